/**
 * The size of an image by its first bytes; null where they do not tell. Reads the headers of PNG, GIF, WebP
 * and JPEG only: nothing is decoded, and the work is bounded by the bytes given.
 */
export function imageSizeOf(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = pngSize(view) ?? gifSize(view) ?? webpSize(view) ?? jpegSize(view);
  return size === null || size.width === 0 || size.height === 0 ? null : size;
}

type Size = { width: number; height: number } | null;

function hasText(view: DataView, at: number, text: string): boolean {
  if (view.byteLength < at + text.length) return false;
  for (let i = 0; i < text.length; i++) {
    if (view.getUint8(at + i) !== text.charCodeAt(i)) return false;
  }
  return true;
}

function pngSize(view: DataView): Size {
  if (view.byteLength < 24 || !hasText(view, 1, "PNG\r\n") || !hasText(view, 12, "IHDR")) {
    return null;
  }
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

function gifSize(view: DataView): Size {
  if (view.byteLength < 10 || !hasText(view, 0, "GIF8")) return null;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function webpSize(view: DataView): Size {
  if (view.byteLength < 30 || !hasText(view, 0, "RIFF") || !hasText(view, 8, "WEBP")) return null;
  if (hasText(view, 12, "VP8X")) {
    return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
  }
  if (hasText(view, 12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  if (!hasText(view, 12, "VP8 ")) return null;
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | view.getUint8(at + 2) << 16;
}

/** Start of frame: all of C0 to CF but the three that are something else. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** Goes from segment to segment; each is at least two bytes long, so it comes to an end. */
function jpegSize(view: DataView): Size {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return null;
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    const length = view.getUint16(at + 2);
    if (length < 2) return null;
    at += 2 + length;
  }
  return null;
}
