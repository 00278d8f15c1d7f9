import assert from "node:assert/strict";
import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import type { Page } from "playwright-core";
import type { Colour } from "../../../providers/simulator/media/canvas.ts";
import { H264Encoder } from "../../../providers/simulator/media/h264.ts";
import { avcEntry, avcSample, writeMp4 } from "../../../providers/simulator/media/mp4.ts";
import { browserTest } from "../../../test/helpers/chromium.ts";
import { playVideo } from "../../../test/helpers/play_video.ts";
import { BLUE, clip, GREEN, mp3, RED, wav } from "../../../test/helpers/shots.ts";
import { CannotJoin, joinVideos } from "./join_videos.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
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
    [joined.durationMs, joined.width, joined.height, joined.hasAudio],
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
