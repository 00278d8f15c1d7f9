import assert from "node:assert/strict";
import {
  ALL_FORMATS,
  BufferSource,
  BufferTarget,
  EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import type { Page } from "playwright-core";
import { murmurMp3 } from "../../providers/simulator/media/mp3.ts";
import { Canvas, type Colour } from "../../providers/simulator/media/canvas.ts";
import { SAMPLE_RATE, speak } from "../../providers/simulator/media/speech.ts";
import { H264Encoder } from "../../providers/simulator/media/h264.ts";
import { avcEntry, avcSample, writeMp4 } from "../../providers/simulator/media/mp4.ts";
import { makeClip } from "../../providers/simulator/media/video.ts";
import { writeWav } from "../../providers/simulator/media/wav.ts";
import { browserTest } from "../../test/helpers/chromium.ts";
import { playVideo } from "../../test/helpers/play_video.ts";
import { CannotJoin, joinVideos } from "./join_videos.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const RED: Colour = [230, 30, 30];
const GREEN: Colour = [30, 230, 30];
const BLUE: Colour = [30, 30, 230];

/** A clip of one colour, as the simulator makes them. */
async function clip(colour: Colour, seconds: number, size = [640, 360]): Promise<Blob> {
  const backdrop = new Canvas(4, 4);
  backdrop.fillGradient(colour, colour);
  return new Blob([
    await makeClip({
      width: size[0]!,
      height: size[1]!,
      durationMs: seconds * 1000,
      prompt: "",
      seed: "",
      backdrop,
      speaks: false,
      sound: null,
    }),
  ]);
}

const samplesOf = (seconds: number, voice = "alma") =>
  speak("Over the stones. ".repeat(20), { voice, speed: 1, count: seconds * SAMPLE_RATE });

async function mp3(seconds: number): Promise<Blob> {
  const samples = seconds * SAMPLE_RATE;
  return new Blob([
    await murmurMp3((count) => samplesOf(count / SAMPLE_RATE), samples, SAMPLE_RATE),
  ]);
}

const wav = (seconds: number, rate = SAMPLE_RATE) =>
  new Blob([writeWav(samplesOf(seconds * rate / SAMPLE_RATE), rate)]);

async function look<T>(
  bytes: Uint8Array<ArrayBuffer>,
  see: (video: InputVideoTrack, sound: InputAudioTrack | null, input: Input) => Promise<T>,
): Promise<T> {
  using input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  return await see(
    (await input.getPrimaryVideoTrack())!,
    await input.getPrimaryAudioTrack(),
    input,
  );
}

const timesOf = async (track: InputVideoTrack | InputAudioTrack) => {
  const times = [];
  for await (const packet of new EncodedPacketSink(track).packets()) {
    times.push({ at: packet.timestamp, until: packet.timestamp + packet.duration });
  }
  return times;
};

const isAbout = (colour: readonly number[], [red, green, blue]: Colour) =>
  // The clip darkens its backdrop, and what is left keeps its order.
  [red > 100, green > 100, blue > 100].every((isHigh, at) => colour[at]! > 80 === isHigh);

browserTest("shots play one after another, in order, in a browser", async ({ openPage }) => {
  const page = await openPage();
  const shots = [
    { video: await clip(RED, 1) },
    { video: await clip(GREEN, 2) },
    { video: await clip(BLUE, 1.5) },
  ];
  const joined = await joinVideos(shots);
  assert.deepEqual(
    [joined.durationMs, joined.width, joined.height, joined.hasSound],
    [4500, 640, 360, false],
  );
  const corner = [0.02, 0.04] as const;
  const played = await playVideo(page, joined.bytes, {
    looks: [[0.5, ...corner], [1.1, ...corner], [2.9, ...corner], [3.2, ...corner], [
      4.4,
      ...corner,
    ]],
  });
  assert.equal(played.seconds, 4.5);
  assert.ok(Math.abs(played.endedAt - 4.5) < 0.1);
  const expected = [RED, GREEN, GREEN, BLUE, BLUE];
  played.colours.forEach((colour, at) =>
    assert.ok(isAbout(colour, expected[at]!), `${at}: ${colour}`)
  );
});

/** A clip of one colour whose pictures cannot be read with another clip's settings. */
function oddClip(grey: number, size: readonly [number, number], hasKey = true): Blob {
  const [width, height] = size;
  const encoder = new H264Encoder(width, height, 9);
  const planes = encoder.emptyPlanes();
  planes.blue.fill(128);
  planes.red.fill(128);
  const samples = Array.from({ length: 12 }, (_, at) => {
    planes.luma.fill(grey + at);
    const all = new Set(
      Array.from({ length: encoder.columns * encoder.rows }, (_, block) => block),
    );
    const { bytes, isKey } = encoder.encode(planes, at === 0 ? null : all);
    return { bytes: avcSample(bytes), ticks: 1, isKey };
  });
  const entry = avcEntry(encoder);
  return new Blob([
    writeMp4([{
      kind: "video",
      timescale: 12,
      samples: hasKey ? samples : samples.slice(1),
      entry,
      width,
      height,
    }]),
  ]);
}

browserTest("shots whose decoders want different settings play as well", async ({ openPage }) => {
  const page = await openPage();
  const joined = await joinVideos([
    { video: await clip(RED, 1) },
    { video: oddClip(200, [640, 360]) },
    { video: await clip(BLUE, 1) },
  ]);
  const played = await playVideo(page, joined.bytes, {
    looks: [[0.5, 0, 0], [1.05, 0, 0], [1.9, 0.5, 0.5], [2.5, 0, 0]],
  });
  const [first, second, grown, third] = played.colours;
  assert.ok(isAbout(first!, RED) && isAbout(third!, BLUE), `${first} ${third}`);
  assert.ok(Math.min(...second!) > 190 && grown![0]! > second![0]! + 5, `${second} ${grown}`);
  assert.equal(played.seconds, 3);
});

/** A clip of the browser's own encoder: another profile, compressed pictures, settings unlike ours. */
async function browserClip(page: Page, size: readonly [number, number]): Promise<Blob> {
  const { settings, chunks } = await page.evaluate(encodeGreen, [...size]);
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target });
  const source = new EncodedVideoPacketSource("avc");
  output.addVideoTrack(source);
  await output.start();
  const decoderConfig = {
    codec: "avc1.4d001f",
    codedWidth: size[0],
    codedHeight: size[1],
    description: Uint8Array.fromBase64(settings),
  };
  for (const [at, { type, base64 }] of chunks.entries()) {
    const packet = new EncodedPacket(Uint8Array.fromBase64(base64), type, at / 12, 1 / 12);
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return new Blob([target.buffer!]);
}

/** Runs in the page. */
async function encodeGreen([width, height]: number[]) {
  // deno-lint-ignore no-explicit-any
  const { OffscreenCanvas, VideoEncoder, VideoFrame } = globalThis as any;
  const toBase64 = (bytes: Uint8Array) => {
    let letters = "";
    for (const byte of bytes) letters += String.fromCharCode(byte);
    return btoa(letters);
  };
  const chunks: { type: "key" | "delta"; base64: string }[] = [];
  let settings = "";
  const encoder = new VideoEncoder({
    // deno-lint-ignore no-explicit-any
    output(chunk: any, about: any) {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      chunks.push({ type: chunk.type, base64: toBase64(bytes) });
      const description = about.decoderConfig?.description;
      if (description) settings = toBase64(new Uint8Array(description));
    },
    error: console.error,
  });
  encoder.configure({ codec: "avc1.4d001f", width, height, framerate: 12, avc: { format: "avc" } });
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  for (let at = 0; at < 12; at++) {
    context.fillStyle = `rgb(20, ${170 + at * 5}, 20)`;
    context.fillRect(0, 0, width, height);
    const frame = new VideoFrame(canvas, { timestamp: at * 1e6 / 12, duration: 1e6 / 12 });
    encoder.encode(frame, { keyFrame: at === 0 });
    frame.close();
  }
  await encoder.flush();
  return { settings, chunks };
}

browserTest("a shot of a stranger's encoder plays between our own", async ({ openPage }) => {
  const page = await openPage();
  const blank = { contentType: "text/html", body: "<body></body>" };
  // Encoders are there for pages of a secure origin only.
  await page.route("https://page.invalid/", (route) => route.fulfill(blank));
  await page.goto("https://page.invalid/");
  const joined = await joinVideos([
    { video: await clip(RED, 1) },
    { video: await browserClip(page, [640, 360]), line: await mp3(0.5) },
    { video: await clip(BLUE, 1) },
  ]);
  const corner = [0.02, 0.04] as const;
  const played = await playVideo(page, joined.bytes, {
    looks: [[0.5, ...corner], [1.1, ...corner], [1.9, ...corner], [2.5, ...corner]],
  });
  const expected = [RED, GREEN, GREEN, BLUE];
  played.colours.forEach((colour, at) => {
    assert.ok(isAbout(colour, expected[at]!), `${at}: ${colour}`);
  });
  assert.ok(Math.abs(played.seconds - 3) < 0.03, `${played.seconds}`);
});

browserTest("lines are heard under their shots, whether MP3 or WAV", async ({ openPage }) => {
  const page = await openPage();
  for (const line of [await mp3(0.8), wav(0.8)]) {
    const joined = await joinVideos([
      { video: await clip(RED, 1) },
      { video: await clip(GREEN, 1), line },
      { video: await clip(BLUE, 1), line: null },
    ]);
    assert.equal(joined.hasSound, true);
    const played = await playVideo(page, joined.bytes);
    assert.ok(Math.abs(played.seconds - 3) < 0.03, `${played.seconds}`);
    assert.ok(played.soundBytes > 0);
    const loud = await page.evaluate(loudness, joined.bytes.toBase64());
    assert.ok(loud[0]! < 0.001 && loud[1]! > 0.02 && loud[2]! < 0.01, `${loud}`);
  }
});

/** Runs in the page: how loud each second is. */
async function loudness(base64: string): Promise<number[]> {
  // deno-lint-ignore no-explicit-any
  const { OfflineAudioContext } = globalThis as any;
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const heard = await new OfflineAudioContext(1, 1, 24_000).decodeAudioData(bytes.buffer);
  const samples: Float32Array = heard.getChannelData(0);
  return [0.1, 1.1, 2.1].map((second) => {
    const part = samples.subarray(second * 24_000, (second + 0.6) * 24_000);
    return Math.sqrt(part.reduce((sum, value) => sum + value * value, 0) / part.length);
  });
}

Deno.test("a shot lasts until its line is said", STRICT, async () => {
  const joined = await joinVideos([
    { video: await clip(RED, 1), line: await mp3(2.5) },
    { video: await clip(BLUE, 1), line: await mp3(1.6) },
  ]);
  assert.ok(Math.abs(joined.durationMs - 4100) < 100, `${joined.durationMs}`);
  await look(joined.bytes, async (video, sound, input) => {
    const pictures = await timesOf(video);
    assert.equal(pictures.length, 24);
    assert.ok(Math.abs(pictures[12]!.at - 2.5) < 0.06, "the second waits for the first line's end");
    assert.ok(Math.abs(pictures.at(-1)!.until - joined.durationMs / 1000) < 0.01);
    const frames = await timesOf(sound!);
    frames.slice(1).forEach(({ at }, index) =>
      assert.ok(Math.abs(at - frames[index]!.until) < 1e-3)
    );
    assert.ok(Math.abs(await input.computeDuration() - joined.durationMs / 1000) < 0.05);
  });
});

Deno.test("sound stays with the pictures through many shots", STRICT, async () => {
  const video = await clip(RED, 1.1);
  const line = await mp3(0.5);
  const joined = await joinVideos(Array.from({ length: 12 }, () => ({ video, line })));
  await look(joined.bytes, async (pictures, sound) => {
    const [shown, heard] = [await pictures.computeDuration(), await sound!.computeDuration()];
    assert.ok(Math.abs(shown - 13.2) < 0.01 && Math.abs(heard - 13.2) < 0.03, `${shown} ${heard}`);
  });
});

Deno.test("an episode's own sound is kept when it is joined again", STRICT, async () => {
  const part = await joinVideos([{ video: await clip(RED, 1), line: await mp3(1) }]);
  const video = new Blob([part.bytes]);
  const twice = await joinVideos([{ video }, { video }]);
  assert.equal(twice.hasSound, true);
  await look(twice.bytes, async (_, sound) => {
    assert.ok(Math.abs(await sound!.computeDuration() - 2) < 0.06);
  });
  const mixed = await joinVideos([{ video }, { video: await clip(RED, 1) }]);
  assert.equal(mixed.hasSound, false);
});

Deno.test("what cannot be joined is named, with the reason", STRICT, async () => {
  const video = await clip(RED, 1);
  const refuses = async (shots: Parameters<typeof joinVideos>[0], shot: number, reason: RegExp) =>
    await assert.rejects(joinVideos(shots), (error) => {
      assert.ok(error instanceof CannotJoin);
      assert.equal(error.shot, shot);
      assert.match(error.message, reason);
      return true;
    });
  await refuses([], 0, /no shots/);
  await refuses([{ video }, { video: await clip(RED, 1, [360, 640]) }], 1, /size/);
  await refuses([{ video }, { video: new Blob(["no video at all"]) }], 1, /cannot be read/);
  await refuses([{ video, line: new Blob(["no sound"]) }], 0, /cannot be read/);
  await refuses([{ video, line: wav(1) }, { video, line: wav(1, 16_000) }], 1, /sample rate/);
  const keyless = oddClip(100, [640, 360], false);
  await refuses([{ video }, { video: keyless }], 1, /cannot be read/);
  await refuses([{ video: keyless }, { video }], 0, /cannot be read/);
  const silent = await mp3(1);
  await refuses([{ video }, { video: silent }], 1, /cannot be read/);
});
