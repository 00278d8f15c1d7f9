import assert from "node:assert/strict";
import { flac, joined, m4a, oggOpus, oggVorbis, text, wav } from "../../../test/helpers/media.ts";
import { probeMedia } from "./probe_media.ts";
import { mediaType } from "./media_types.ts";
import { sniffName } from "./sniff_name.ts";

/** Milliseconds of audio whose type is detected from its content. */
async function lengthOf(bytes: Uint8Array<ArrayBuffer>): Promise<number | null> {
  const type = mediaType(await sniffName(bytes.subarray(0, 4100)));
  assert.equal(type?.kind, "audio");
  const source = {
    range: (first: number, last: number) => Promise.resolve(bytes.slice(first, last + 1)),
    all: () => ReadableStream.from(cut(bytes, 777)),
  };
  const { durationMs } = await probeMedia(source, {
    kind: "audio",
    mimeType: type!.mimeType,
    bytes: bytes.length,
    head: bytes.subarray(0, 1000),
  });
  return durationMs;
}

function* cut(bytes: Uint8Array<ArrayBuffer>, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The same WAV with some figures of its header changed. */
function wavWith(
  seconds: number,
  { data, rate, block, format }: { data?: number; rate?: number; block?: number; format?: number },
): Uint8Array<ArrayBuffer> {
  const bytes = wav(seconds);
  const head = new DataView(bytes.buffer);
  if (format !== undefined) head.setUint16(20, format, true);
  if (rate !== undefined) head.setUint32(28, rate, true);
  if (block !== undefined) head.setUint16(32, block, true);
  if (data !== undefined) head.setUint32(40, data, true);
  return bytes;
}

const note = (name: string, length: number, there = length) =>
  joined([text(name), new Uint8Array(new Uint32Array([length]).buffer), new Uint8Array(there)]);

Deno.test("a WAV lasts as long as its samples, whatever its header says", async () => {
  assert.equal(await lengthOf(wav(3)), 3000);
  assert.equal(await lengthOf(wavWith(3, { data: 16_000 })), 3000, "a length that is too small");
  assert.equal(await lengthOf(wavWith(3, { data: 0 })), 3000, "none yet when it was written");
  assert.equal(await lengthOf(wavWith(3, { data: 0xffff_ffff })), 3000, "none known");
  assert.equal(await lengthOf(wavWith(3, { rate: 1_600_000 })), 3000, "a rate that is too large");
});

Deno.test("notes after a WAV's samples do not count as audio", async () => {
  assert.equal(await lengthOf(joined([wav(2), note("LIST", 300), note("id3 ", 90_000)])), 2000);
  assert.equal(await lengthOf(joined([wav(2), note("LIST", 301, 302)])), 2000, "to an even place");
  assert.equal(
    await lengthOf(joined([wav(2), note("data", 15_992)])),
    3000,
    "more samples are no note",
  );
  assert.equal(await lengthOf(joined([wav(2), new Uint8Array(16_000)])), 3000);
});

Deno.test("a WAV whose samples do not tell their size has no known length", async () => {
  assert.equal(await lengthOf(wavWith(3, { block: 200 })), null);
  assert.equal(await lengthOf(wavWith(3, { format: 0x11 })), null, "compressed");
  const two = joined([wav(1).subarray(0, 36), wavWith(1, {}).subarray(12)]);
  assert.equal(await lengthOf(two), null, "two formats");
});

Deno.test("a FLAC lasts as long as its frames, whatever it announces", async () => {
  assert.equal(await lengthOf(flac(3)), 3000);
  assert.equal(await lengthOf(flac(3, { announced: 1 })), 3000);
  assert.equal(await lengthOf(flac(3, { announced: 0 })), 3000);
  assert.equal(await lengthOf(flac(300, { announced: 1 })), 300_000, "numbers of several bytes");
});

Deno.test("a FLAC whose frames are not all there in order has no known length", async () => {
  const whole = flac(3);
  assert.equal(await lengthOf(joined([whole, whole.subarray(42)])), null, "numbered from 0 again");
  assert.equal(await lengthOf(joined([whole, new Uint8Array(100_000)])), null, "and more");
  assert.equal(await lengthOf(joined([whole.subarray(0, 42)])), null, "no frame");
  const damaged = whole.slice();
  damaged[60]! ^= 0xff;
  assert.equal(await lengthOf(damaged), null, "one is spoilt");
});

Deno.test("an M4A lasts as long as its packets are said to, if they can", async () => {
  assert.equal(await lengthOf(await m4a(47)), 1003);
  assert.equal(await lengthOf(await m4a(470, { samples: 100 })), null);
});

Deno.test("an Ogg file lasts as long as its packets, whatever its pages say", async () => {
  assert.equal(await lengthOf(oggOpus(150)), 2994, "less what is passed over at the start");
  assert.equal(await lengthOf(oggOpus(150, { stated: 0.0001 })), 3000);
  assert.equal(await lengthOf(oggOpus(150, { stated: 10 })), 3000);
  assert.equal(await lengthOf(oggOpus(50, { stated: 0.02, code: 3 })), 3000, "three frames each");
  assert.equal(await lengthOf(joined([oggOpus(150, { stated: 0.001 }), oggOpus(50)])), 3994);
  const seconds = 129 * 1024 / 44_100;
  assert.equal(await lengthOf(oggVorbis(130)), Math.round(seconds * 1000));
  assert.equal(await lengthOf(oggVorbis(130, { stated: 0.01 })), Math.round(seconds * 1000));
});

Deno.test("Vorbis of a real encoder is measured to the sample, also behind times that lie", async () => {
  const { createOggEncoder } = await import("wasm-media-encoders");
  const encoder = await createOggEncoder();
  encoder.configure({ sampleRate: 44_100, channels: 2, vbrQuality: 3 });
  // Clicks now and then, so that there are blocks of both sizes.
  const samples = Float32Array.from(
    { length: 44_100 * 3 },
    (_, at) => at % 9000 < 20 ? 0.9 : Math.sin(at / 20) / 4,
  );
  const bytes = joined([encoder.encode([samples, samples]).slice(), encoder.finalize().slice()]);
  assert.equal(await lengthOf(bytes), 3000);
  const lying = bytes.slice();
  const view = new DataView(lying.buffer);
  for (let at = 0; at + 27 < lying.length; at++) {
    if (view.getUint32(at) === 0x4f676753) view.setBigUint64(at + 6, 100n, true);
  }
  const seconds = (await lengthOf(lying))! / 1000;
  assert.ok(seconds >= 3 && seconds < 3.1, `${seconds}`);
});

Deno.test("an Ogg file whose packets do not tell how long they play has no known length", async () => {
  const damaged = oggVorbis(130);
  // In the middle of the setup header.
  damaged[145]! ^= 0xff;
  assert.equal(await lengthOf(damaged), null);
  const speex = oggOpus(50);
  speex.set(text("Speex   "), 28);
  assert.equal(await lengthOf(speex), null);
});

Deno.test("an M4A of a codec whose packets do not tell how long they play has no known length", async () => {
  assert.equal(await lengthOf(await m4a(50, { samples: 960, codec: "opus" })), 1000);
  assert.equal(await lengthOf(await m4a(500, { samples: 96, codec: "opus" })), null);
  assert.equal(await lengthOf(await m4a(50, { codec: "flac" })), null);
});
