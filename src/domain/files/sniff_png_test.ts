import assert from "node:assert/strict";
import { mediaSamples } from "../../../test/helpers/media_samples.ts";
import { probeImage } from "./probe_image.ts";
import { sniffName } from "./sniff_name.ts";
import { sniffPng } from "./sniff_png.ts";

const text = new TextEncoder();

function chunk(name: string, data: number[] = []): number[] {
  const length = new Uint8Array(new Uint32Array([data.length]).buffer).toReversed();
  return [...length, ...text.encode(name), ...data, 0, 0, 0, 0];
}

function png(...chunks: number[][]): Uint8Array {
  return new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...chunks.flat()]);
}

const HEADER = chunk("IHDR", [0, 0, 0, 64, 0, 0, 0, 32, 8, 2, 0, 0, 0]);

Deno.test("a PNG and an animated one are told apart, with their size, as the parsers do it", async () => {
  const plain = png(HEADER, chunk("tEXt", [1, 2, 3]), chunk("IDAT", [1]), chunk("acTL"));
  const animated = png(HEADER, chunk("acTL", [0, 0, 0, 1, 0, 0, 0, 0]), chunk("IDAT", [1]));
  for (const [bytes, name] of [[plain, "image/png"], [animated, "image/apng"]] as const) {
    const sniffed = sniffPng(bytes);
    assert.deepEqual(sniffed, {
      name,
      facts: { width: 64, height: 32, durationMs: null },
    });
    assert.equal(await sniffName(bytes), name);
    assert.deepEqual(probeImage(bytes), sniffed!.facts);
  }
});

Deno.test("of every sample it says what the parsers say, or nothing", async () => {
  let known = 0;
  for (const [, bytes] of await mediaSamples()) {
    const sniffed = sniffPng(bytes);
    if (sniffed === null) continue;
    known++;
    assert.equal(sniffed.name, await sniffName(bytes));
    assert.deepEqual(sniffed.facts, probeImage(bytes));
  }
  assert.ok(known > 0);
});

Deno.test("a PNG that is cut off, that hides its image data or begins oddly is left to the parsers", () => {
  const whole = png(HEADER, chunk("IDAT", [1]));
  for (let length = 0; length < 8 + HEADER.length + 8; length++) {
    assert.equal(sniffPng(whole.slice(0, length)), null, String(length));
  }
  assert.equal(sniffPng(png(chunk("CgBI", [0, 0, 0, 0]), HEADER, chunk("IDAT"))), null);
  const endless = png(HEADER, [0xff, 0xff, 0xff, 0xff, ...text.encode("tEXt")], chunk("IDAT"));
  assert.equal(sniffPng(endless), null);
});
