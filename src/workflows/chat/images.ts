import { contentParts, headOf, type ImageSource } from "../../lib/content_parts.ts";
import { imageSizeOf } from "../../lib/image_header.ts";
import type { ChatRequest, ImageInput } from "../../upstream/adapter.ts";

/** An image of a chat request. */
export interface ChatImage extends ImageInput {
  /** Length of its base64 data, which is not text. Zero for a URL. */
  readonly base64Length: number;
}

/** Enough to find the size behind camera metadata. */
const HEAD_BYTES = 192 * 1024;

/** The images of a request, in their order. */
export function imagesOf(request: ChatRequest): ChatImage[] {
  const images: ChatImage[] = [];
  for (const { image, value } of contentParts(request)) {
    if (image !== null) images.push(imageOf(image, value as { image_url: { detail?: unknown } }));
  }
  return images;
}

function imageOf(source: ImageSource, part: { image_url: { detail?: unknown } }): ChatImage {
  const { detail } = part.image_url;
  const isInline = source.kind === "data";
  return {
    base64Length: isInline ? source.url.length - source.start : 0,
    size: isInline ? imageSizeOf(headOf(source, HEAD_BYTES)) : null,
    detail: typeof detail === "string" ? detail : null,
  };
}
