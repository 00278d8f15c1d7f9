import assert from "node:assert/strict";
import { encodeMp3 } from "../encode_mp3.ts";
import { countSeconds } from "./audio_frames.ts";

const SAMPLE_RATE = 24_000;

async function mp3(seconds: number): Promise<Uint8Array> {
  const samples = Int16Array.from(
    { length: seconds * SAMPLE_RATE },
    (_, at) => 8000 * Math.sin(at / 9),
  );
  return new Uint8Array(await encodeMp3({ samples, channels: 1, sampleRate: SAMPLE_RATE }, 64));
}

/** One second of AAC in frames that say nothing. */
function adts(): Uint8Array {
  const frame = new Uint8Array(107);
  frame.set([
    0xff,
    0xf1,
    0x60 & 0xc0 | 8 << 2,
    0x40,
    frame.length >> 3,
    (frame.length & 7) << 5,
    0,
  ]);
  return concat(...Array.from({ length: 16 }, () => frame));
}

function concat(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

async function* cut(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const isNear = (actual: number | null, seconds: number) =>
  assert.ok(actual !== null && Math.abs(actual - seconds) < 0.15, `${actual}, not ${seconds}`);

Deno.test("audio is as long as its frames, however it comes in and whatever its head claims", async () => {
  const honest = await mp3(3);
  const lying = honest.slice();
  // Where an encoder writes how many frames there are.
  lying.set([..."Xing"].map((letter) => letter.charCodeAt(0)), 13);
  lying.set([0, 0, 0, 1, 0, 0, 0, 2], 17);
  for (const bytes of [honest, lying]) {
    for (const size of [1000, 65_536]) isNear(await countSeconds(cut(bytes, size), "mp3"), 3);
  }
  isNear(await countSeconds(cut(adts(), 300), "adts"), 16 * 1024 / 16_000);
});

Deno.test("tags around the frames do not count, and a file that is cut off is not measured", async () => {
  const honest = await mp3(2);
  const cover = new Uint8Array(70_000).fill(0xff);
  const size = [cover.length >> 21, cover.length >> 14 & 127, cover.length >> 7 & 127];
  const tag = concat(
    new Uint8Array([0x49, 0x44, 0x33, 4, 0, 0, ...size, cover.length & 127]),
    cover,
  );
  const end = new Uint8Array(128).fill(0x54);
  isNear(await countSeconds(cut(concat(tag, honest, end), 5000), "mp3"), 2);
  const torn: Uint8Array[] = [honest];
  for (let at = 0; at < honest.length; at += 192) {
    torn.push(honest.subarray(at, at + 192), new Uint8Array(1));
  }
  const tail = concat(...torn);
  assert.equal(await countSeconds(cut(tail, 5000), "mp3"), null);
});
