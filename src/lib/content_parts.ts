import { Buffer } from "node:buffer";

/** One piece of a chat request's messages, read by its type. A `content` that is a string is one text part. */
export interface ContentPart {
  /** Index of the message, and of the part in it; null where the content is a string. */
  readonly message: number;
  readonly part: number | null;
  readonly role: unknown;
  readonly type: string;
  /** The part as the client wrote it; a string where the content is one. */
  readonly value: string | Fields;
  /** What a part of type `text`, `refusal` or `thinking` says; null for other types, and where it says nothing. */
  readonly text: string | null;
  /** The image of a part of type `image_url`; null for other types, and where there is no address. */
  readonly image: ImageSource | null;
}

type Fields = Readonly<Record<string, unknown>>;

export type ImageSource = LinkedImage | InlineImage;

export interface LinkedImage {
  readonly kind: "url";
  readonly url: string;
}

/** An image or another file that the request itself carries, in base64. */
export interface InlineImage {
  readonly kind: "data";
  readonly url: string;
  /** As declared, in lower case; empty where it is not a base64 data URL with a media type. */
  readonly mimeType: string;
  /** Where the base64 begins in `url`. */
  readonly start: number;
  /** How many bytes it decodes to. */
  readonly byteLength: number;
}

/** All content parts of a request, in order. Reads only; `chat/check_messages.ts` says what is allowed. */
export function* contentParts(
  { messages }: { readonly messages: readonly Fields[] },
): Generator<ContentPart> {
  for (let message = 0; message < messages.length; message++) {
    const { role, content } = messages[message]!;
    if (typeof content === "string") {
      yield { message, part: null, role, type: "text", value: content, text: content, image: null };
    }
    if (!Array.isArray(content)) continue;
    for (let part = 0; part < content.length; part++) {
      const value: Fields = content[part] ?? {};
      const type = typeof value.type === "string" ? value.type : "";
      const text = textOf(type, value);
      const image = type === "image_url" ? imageOf(value.image_url) : null;
      yield { message, part, role, type, value, text, image };
    }
  }
}

/** Where the client wrote the part, as errors name it. */
export function pathOf({ message, part }: Pick<ContentPart, "message" | "part">): string {
  return part === null ? `messages.${message}.content` : `messages.${message}.content.${part}`;
}

/** The first bytes of an inline image, at most `bytesMax`: enough to tell its type, and often its size. */
export function headOf({ url, start }: InlineImage, bytesMax: number): Uint8Array {
  const characters = Math.ceil(bytesMax / 3) * 4;
  return Buffer.from(url.slice(start, start + characters), "base64").subarray(0, bytesMax);
}

/** Decoded into over and over, so that a check of many megabytes takes no memory. */
const DECODED = new Uint8Array(48 * 1024);
const DECODED_CHARACTERS = DECODED.length / 3 * 4;

/**
 * Whether an inline image is base64 to its end, padded or not. Other characters would be text that is
 * counted as bytes of the image.
 */
export function isBase64({ url, start }: InlineImage): boolean {
  const padding = paddingOf(url);
  const end = url.length - padding;
  if (padding > 0 ? (url.length - start) % 4 !== 0 : (end - start) % 4 === 1) return false;
  for (let at = start; at < end; at += DECODED_CHARACTERS) {
    const text = url.slice(at, Math.min(end, at + DECODED_CHARACTERS));
    try {
      // The decoder passes over white space, and then there are fewer bytes.
      if (DECODED.setFromBase64(text).written !== Math.floor(text.length * 3 / 4)) return false;
    } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
  }
  return true;
}

function paddingOf(url: string): number {
  return url.endsWith("==") ? 2 : url.endsWith("=") ? 1 : 0;
}

/** Base64 without the head of a data URL. */
export function bareBase64(text: string): InlineImage {
  const byteLength = Math.floor((text.length - paddingOf(text)) * 3 / 4);
  return { kind: "data", url: text, mimeType: "", start: 0, byteLength };
}

/** Whether a document begins as a PDF does. Some have a few bytes in front. */
export function isPdfHead(head: Uint8Array): boolean {
  return Buffer.from(head).includes("%PDF-");
}

/** The type that an image's first 12 bytes show; null for anything but what chat models take. */
export function sniffImage(head: Uint8Array): string | null {
  const latin = String.fromCharCode(...head.subarray(0, 12));
  if (latin.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (latin.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (latin.startsWith("GIF87a") || latin.startsWith("GIF89a")) return "image/gif";
  if (latin.startsWith("RIFF") && latin.startsWith("WEBP", 8)) return "image/webp";
  return null;
}

const TEXT_TYPES = new Set(["text", "refusal", "thinking"]);

function textOf(type: string, value: Fields): string | null {
  const text = TEXT_TYPES.has(type) ? value[type] : null;
  return typeof text === "string" ? text : null;
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[^;,]*)*;base64,/;
/** The head of a data URL is short; what follows may be many megabytes. */
const DATA_HEAD_MAX = 256;

function imageOf(value: unknown): ImageSource | null {
  const url = (value as Fields | null | undefined)?.url;
  if (typeof url !== "string") return null;
  return /^data:/i.test(url) ? dataUrl(url) : { kind: "url", url };
}

/** The data URL taken apart; one that is not base64 with a media type has neither type nor bytes. */
export function dataUrl(url: string): InlineImage {
  const head = DATA_URL.exec(url.slice(0, DATA_HEAD_MAX));
  if (head === null) return { kind: "data", url, mimeType: "", start: url.length, byteLength: 0 };
  const start = head[0].length;
  const byteLength = Math.max(0, Math.floor((url.length - start - paddingOf(url)) * 3 / 4));
  return { kind: "data", url, mimeType: head[1]!.toLowerCase(), start, byteLength };
}
