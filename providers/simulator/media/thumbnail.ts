import { createHash } from "node:crypto";
import { Canvas, hsl } from "./canvas.ts";
import { readPng } from "./png.ts";

const SIDE = 12;

/**
 * A picture in a few hundred bytes, small enough for an id: what a PNG shows, blurred; for any other
 * file a pattern of its own.
 */
export function thumbnailOf(bytes: Uint8Array<ArrayBuffer>): string {
  const picture = readPng(bytes);
  const small = picture === null ? patternOf(bytes) : shrunk(picture);
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

/** Each pixel the mean of what it stands for. */
function shrunk(picture: Canvas): Canvas {
  const small = new Canvas(SIDE, SIDE);
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++) {
      const fromY = Math.floor(row * picture.height / SIDE);
      const toY = Math.max(fromY + 1, Math.floor((row + 1) * picture.height / SIDE));
      const fromX = Math.floor(column * picture.width / SIDE);
      const toX = Math.max(fromX + 1, Math.floor((column + 1) * picture.width / SIDE));
      const sums = [0, 0, 0];
      for (let y = fromY; y < toY; y++) {
        for (let x = fromX; x < toX; x++) {
          const at = (y * picture.width + x) * 3;
          for (let channel = 0; channel < 3; channel++) {
            sums[channel]! += picture.pixels[at + channel]!;
          }
        }
      }
      const count = (toY - fromY) * (toX - fromX);
      small.pixels.set(sums.map((sum) => sum / count), (row * SIDE + column) * 3);
    }
  }
  return small;
}

/** The same left and right, as faces are. */
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
