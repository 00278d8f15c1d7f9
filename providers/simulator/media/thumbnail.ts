import { createHash } from "node:crypto";
import { Canvas, hsl } from "./canvas.ts";
import { readPng } from "./png.ts";

const SIDE = 12;

/**
 * An image in a few hundred bytes, small enough for a job's id: a PNG reduced to 12×12 pixels; for any
 * other file a pattern made from its hash.
 */
export function thumbnailOf(bytes: Uint8Array<ArrayBuffer>): string {
  const image = readPng(bytes);
  const small = image === null ? patternOf(bytes) : shrink(image);
  const packed = new Uint8Array(SIDE * SIDE * 2);
  const view = new DataView(packed.buffer);
  for (let at = 0; at < SIDE * SIDE; at++) {
    const [red, green, blue] = small.pixels.subarray(at * 3);
    view.setUint16(at * 2, red! >> 3 << 11 | green! >> 2 << 5 | blue! >> 3);
  }
  return packed.toBase64();
}

export function readThumbnail(text: string): Canvas {
  const small = new Canvas(SIDE, SIDE);
  const packed = Uint8Array.fromBase64(text);
  const view = new DataView(packed.buffer);
  for (let at = 0; at < SIDE * SIDE; at++) {
    const value = view.getUint16(at * 2);
    small.pixels.set([value >> 8 & 0xf8, value >> 3 & 0xfc, value << 3 & 0xf8], at * 3);
  }
  return small;
}

function shrink(image: Canvas): Canvas {
  const small = new Canvas(SIDE, SIDE);
  small.drawScaled(image, { x: 0, y: 0, width: SIDE, height: SIDE });
  return small;
}

/** The left half mirrors the right half. */
function patternOf(bytes: Uint8Array<ArrayBuffer>): Canvas {
  const digest = createHash("sha256").update(bytes).digest();
  const small = new Canvas(SIDE, SIDE);
  const hue = digest[0]! * 360 / 256;
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++) {
      const mirrored = Math.min(column, SIDE - 1 - column);
      const light = 0.35 + digest[(row >> 1) * 3 + (mirrored >> 1) + 1]! / 600;
      small.pixels.set(hsl((hue + row * 5) % 360, 0.4, light), (row * SIDE + column) * 3);
    }
  }
  return small;
}
