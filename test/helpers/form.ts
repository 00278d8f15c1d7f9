import { joined, text } from "./media.ts";

/** A part of a form, written out. */
export interface Part {
  /** Header lines, without the last line break. */
  head: string;
  content: Uint8Array | string;
}

export const BOUNDARY = "----test-boundary";

export const filePart = (content: Uint8Array | string, filename = "image.png"): Part => ({
  head: `Content-Disposition: form-data; name="file"; filename="${filename}"\r\n` +
    "Content-Type: application/octet-stream",
  content,
});

export const field = (name: string, content: string): Part => ({
  head: `Content-Disposition: form-data; name="${name}"`,
  content,
});

export const PURPOSE = field("purpose", "generation");

/** multipart/form-data by hand, so that it can also be wrong. */
export function form(parts: Part[], { end = `--${BOUNDARY}--\r\n` } = {}): Uint8Array<ArrayBuffer> {
  return joined([
    ...parts.flatMap(({ head, content }) => [
      text(`--${BOUNDARY}\r\n${head}\r\n\r\n`),
      typeof content === "string" ? text(content) : content,
      text("\r\n"),
    ]),
    text(end),
  ]);
}

export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
