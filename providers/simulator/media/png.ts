import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import { constants } from "node:zlib";
import { PNG } from "pngjs";
import { Canvas } from "./canvas.ts";

const RGB = 2;
/** Filter "up" of the PNG format: a row holds its difference to the row above. Suits gradients. */
const FILTER_UP = 2;
const PIXELS_MAX = 4096 * 4096;
/** Where a PNG file's header has the size of the image. */
const SIZE_OFFSET = 16;

export async function writePng(
  { width, height, pixels }: Canvas,
): Promise<Uint8Array<ArrayBuffer>> {
  const png = new PNG({
    width,
    height,
    colorType: RGB,
    inputColorType: RGB,
    inputHasAlpha: false,
    filterType: FILTER_UP,
    deflateLevel: 3,
    deflateStrategy: constants.Z_DEFAULT_STRATEGY,
  });
  png.data = Buffer.from(pixels.buffer);
  // pngjs has streams of Node's oldest kind; it compresses on another thread.
  return new Uint8Array(await buffer(png.pack().pipe(new PassThrough())));
}

/** Null for a file that is no PNG, is damaged or has too many pixels. */
export function readPng(bytes: Uint8Array): Canvas | null {
  if (bytes.length < SIZE_OFFSET + 8) return null;
  const header = new DataView(bytes.buffer, bytes.byteOffset + SIZE_OFFSET, 8);
  // pngjs allocates what the header claims: check before it does.
  if (header.getUint32(0) * header.getUint32(4) > PIXELS_MAX) return null;
  let image: PNG;
  try {
    image = PNG.sync.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch {
    // pngjs throws plain errors for every kind of damage; the caller draws a pattern instead.
    return null;
  }
  const canvas = new Canvas(image.width, image.height);
  for (let pixel = 0; pixel < image.width * image.height; pixel++) {
    canvas.pixels[pixel * 3] = image.data[pixel * 4]!;
    canvas.pixels[pixel * 3 + 1] = image.data[pixel * 4 + 1]!;
    canvas.pixels[pixel * 3 + 2] = image.data[pixel * 4 + 2]!;
  }
  return canvas;
}
