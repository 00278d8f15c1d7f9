import { imageSizeOf } from "../base/image_header.ts";
import type { ChatRequest, ImageInput } from "../upstream/adapter.ts";

/** An image of a chat request. */
export interface ChatImage extends ImageInput {
  /** Characters of base64 that carry it: bytes of the request that are no text. Zero for a link. */
  readonly base64Length: number;
}

/** Enough for the size, also behind a camera's notes. */
const HEAD_CHARACTERS = 4 * 64 * 1024;

/** The images of a request that was checked, in their order. */
export function imagesOf({ messages }: ChatRequest): ChatImage[] {
  const images: ChatImage[] = [];
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content) {
      if (part?.type === "image_url") images.push(imageOf(part.image_url));
    }
  }
  return images;
}

function imageOf({ url, detail }: { url: string; detail?: unknown }): ChatImage {
  const base64At = url.startsWith("data:") ? url.indexOf(",") + 1 : url.length;
  return {
    base64Length: url.length - base64At,
    size: base64At < url.length ? sizeOf(url.slice(base64At, base64At + HEAD_CHARACTERS)) : null,
    detail: typeof detail === "string" ? detail : null,
  };
}

function sizeOf(base64: string): ImageInput["size"] {
  try {
    // Whole groups of four, so that a head cut out of the middle can be read.
    const whole = base64.length < HEAD_CHARACTERS
      ? base64
      : base64.slice(0, base64.length - base64.length % 4);
    return imageSizeOf(Uint8Array.fromBase64(whole));
  } catch (error) {
    // Not base64: the provider will say so, and until then its size is not known.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
