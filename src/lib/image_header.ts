/**
 * The size of an image by its first bytes; null where they do not tell. Reads the headers of PNG, GIF, WebP
 * and JPEG only: nothing is decoded, and the work is bounded by the bytes given. Where a file names several
 * sizes, decoders differ in which one they use: the largest counts.
 */
export function imageSizeOf(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = pngSize(view) ?? gifSize(view) ?? webpSize(view) ?? jpegSize(view, bytes);
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

/** The screen, or the frames where they reach beyond it. */
function gifSize(view: DataView): Size {
  if (view.byteLength < 10 || !hasText(view, 0, "GIF8")) return null;
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  if (view.byteLength < 13) return size;
  let at = 13 + colourTableLength(view.getUint8(10));
  if (view.byteLength <= at) return size;
  let hasFrame = false;
  while (at + 10 <= view.byteLength) {
    const block = view.getUint8(at);
    if (block === 0x3b) break;
    if (block === 0x2c) {
      hasFrame = true;
      const right = view.getUint16(at + 1, true) + view.getUint16(at + 5, true);
      const bottom = view.getUint16(at + 3, true) + view.getUint16(at + 7, true);
      size.width = Math.max(size.width, right);
      size.height = Math.max(size.height, bottom);
      at = skipSubBlocks(view, at + 11 + colourTableLength(view.getUint8(at + 9)));
    } else if (block === 0x21) at = skipSubBlocks(view, at + 2);
    else at++;
  }
  // The first frame lies behind the bytes given, and may be of any size.
  return hasFrame ? size : null;
}

function colourTableLength(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** Each begins with its length, the last one is empty; returns what comes behind. */
function skipSubBlocks(view: DataView, start: number): number {
  let at = start;
  while (at < view.byteLength) {
    const length = view.getUint8(at);
    at += 1 + length;
    if (length === 0) break;
  }
  return at;
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

/** Markers without a segment: stuffed bytes, restarts, the start of the image. */
function isBare(marker: number): boolean {
  return marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

/**
 * Goes from segment to segment, and through what lies between them; each step is at least one byte long, so
 * it comes to an end.
 */
function jpegSize(view: DataView, bytes: Uint8Array): Size {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return null;
  const size = { width: 0, height: 0 };
  let at = 2;
  while (at !== -1 && at + 9 <= view.byteLength) {
    const marker = view.getUint8(at + 1);
    if (view.getUint8(at) !== 0xff) at = bytes.indexOf(0xff, at);
    else if (marker === 0xff) at++;
    else if (isBare(marker)) at += 2;
    else if (marker === 0xd9) break;
    else {
      const length = view.getUint16(at + 2);
      if (length < 2) return null;
      if (isFrame(marker)) {
        const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
        // The scan itself tells the height.
        if (height === 0) return null;
        size.width = Math.max(size.width, width);
        size.height = Math.max(size.height, height);
      }
      at += 2 + length;
    }
  }
  return size;
}
