import { crc32, deflate, inflateSync } from "node:zlib";
import { promisify } from "node:util";
import { Canvas } from "./canvas.ts";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const RGB = 2;
/** Filter "up": what a row adds to the one above it. Gradients become runs of equal bytes. */
const UP = 2;

/** A drawing as a PNG file. Compressed on another thread. */
export async function writePng(canvas: Canvas): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height, pixels } = canvas;
  const stride = width * 3;
  const rows = new Uint8Array(height * (stride + 1));
  for (let y = 0; y < height; y++) {
    const to = y * (stride + 1) + 1;
    rows[to - 1] = UP;
    const from = y * stride;
    if (y === 0) rows.set(pixels.subarray(0, stride), to);
    else {for (let at = 0; at < stride; at++) {
        rows[to + at] = pixels[from + at]! - pixels[from - stride + at]!;
      }}
  }
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8);
  header.setUint8(9, RGB);
  const packed = await promisify(deflate)(rows, { level: 3 });
  return joined([
    Uint8Array.from(SIGNATURE),
    chunk("IHDR", new Uint8Array(header.buffer)),
    chunk("IDAT", packed),
    chunk("IEND", new Uint8Array()),
  ]);
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(content.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(content, 8);
  view.setUint32(content.length + 8, crc32(bytes.subarray(4, content.length + 8)));
  return bytes;
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.length;
  }
  return whole;
}

const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const PIXELS_MAX = 4096 * 4096;

/** Reads a PNG of eight bits a channel, not interlaced; null for any other file. */
export function readPng(bytes: Uint8Array): Canvas | null {
  if (SIGNATURE.some((byte, at) => bytes[at] !== byte)) return null;
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const [width, height] = [view.getUint32(16), view.getUint32(20)];
    const [depth, kind, interlaced] = [bytes[24], bytes[25]!, bytes[28]];
    const channels = CHANNELS[kind];
    if (depth !== 8 || interlaced !== 0 || channels === undefined) return null;
    if (width * height > PIXELS_MAX) return null;
    const packed: Uint8Array[] = [];
    let palette: Uint8Array = new Uint8Array();
    for (let at = 8; at + 12 <= bytes.length;) {
      const length = view.getUint32(at);
      const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
      if (type === "IDAT") packed.push(bytes.subarray(at + 8, at + 8 + length));
      if (type === "PLTE") palette = bytes.subarray(at + 8, at + 8 + length);
      at += length + 12;
    }
    const stride = width * channels;
    const rows = inflateSync(joined(packed), { maxOutputLength: height * (stride + 1) });
    const plain = unfiltered(rows, stride, height, channels);
    const canvas = new Canvas(width, height);
    for (let pixel = 0; pixel < width * height; pixel++) {
      const at = pixel * channels;
      for (let channel = 0; channel < 3; channel++) {
        canvas.pixels[pixel * 3 + channel] = kind === 3
          ? palette[plain[at]! * 3 + channel] ?? 0
          : plain[channels < 3 ? at : at + channel]!;
      }
    }
    return canvas;
  } catch {
    return null;
  }
}

function unfiltered(rows: Uint8Array, stride: number, height: number, step: number): Uint8Array {
  const plain = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)];
    const from = y * (stride + 1) + 1;
    const to = y * stride;
    for (let at = 0; at < stride; at++) {
      const left = at < step ? 0 : plain[to + at - step]!;
      const up = y === 0 ? 0 : plain[to + at - stride]!;
      const corner = at < step || y === 0 ? 0 : plain[to + at - stride - step]!;
      const guess = filter === 1
        ? left
        : filter === 2
        ? up
        : filter === 3
        ? left + up >> 1
        : filter === 4
        ? paeth(left, up, corner)
        : 0;
      plain[to + at] = rows[from + at]! + guess;
    }
  }
  return plain;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
