import assert from "node:assert/strict";
import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import type { Page } from "playwright-core";
import {
  COLOURS,
  SampleVideos,
  type VideoColour,
} from "../../../providers/simulator/media/sample_videos.ts";
import { makeVideo } from "../../../providers/simulator/media/video.ts";
import { browserTest } from "../../../test/helpers/chromium.ts";
import { playVideo } from "../../../test/helpers/play_video.ts";
import { mp3, videoOf, wav } from "../../../test/helpers/shots.ts";
import { CannotJoin, joinVideos } from "./join_videos.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const isAbout = (pixel: readonly number[], colour: VideoColour) =>
  COLOURS.every((name, at) => pixel[at]! > 100 === (name === colour));

browserTest("shots play one after another, in order, in a browser", async ({ openPage }) => {
  const page = await openPage();
  const shots = [
    { video: await videoOf("red", 1) },
    { video: await videoOf("green", 2) },
    { video: await videoOf("blue", 1.5) },
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
  const expected = ["red", "green", "green", "blue", "blue"] as const;
  played.colours.forEach((colour, at) =>
    assert.ok(isAbout(colour, expected[at]!), `${at}: ${colour}`)
  );
});

interface BrowserVideo {
  readonly codec: string;
  /** The colour of the background of each frame. */
  readonly backgrounds: readonly string[];
}

/** A video of the browser's encoder: with another codec profile its decoder settings differ from the simulator's. */
async function browserVideo(page: Page, { codec, backgrounds }: BrowserVideo): Promise<Blob> {
  const [width, height] = [640, 360];
  // Chromium offers VideoEncoder to pages of a secure origin only.
  const blank = { contentType: "text/html", body: "<body></body>" };
  await page.route("https://page.invalid/", (route) => route.fulfill(blank));
  await page.goto("https://page.invalid/");
  const { description, chunks } = await page.evaluate(encodeFrames, {
    codec,
    backgrounds,
    width,
    height,
  });
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target });
  const source = new EncodedVideoPacketSource("avc");
  output.addVideoTrack(source);
  await output.start();
  const decoderConfig = {
    codec,
    codedWidth: width,
    codedHeight: height,
    description: Uint8Array.fromBase64(description),
  };
  for (const [at, { type, base64 }] of chunks.entries()) {
    const packet = new EncodedPacket(Uint8Array.fromBase64(base64), type, at / 12, 1 / 12);
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return new Blob([target.buffer!]);
}

/** Runs in the page. */
async function encodeFrames(
  { codec, backgrounds, width, height }: BrowserVideo & { width: number; height: number },
) {
  // deno-lint-ignore no-explicit-any
  const { OffscreenCanvas, VideoEncoder, VideoFrame } = globalThis as any;
  const toBase64 = (bytes: Uint8Array) => {
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return btoa(binary);
  };
  const chunks: { type: "key" | "delta"; base64: string }[] = [];
  let description = "";
  const encoder = new VideoEncoder({
    // deno-lint-ignore no-explicit-any
    output(chunk: any, metadata: any) {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      chunks.push({ type: chunk.type, base64: toBase64(bytes) });
      const found = metadata.decoderConfig?.description;
      if (found) description = toBase64(new Uint8Array(found));
    },
    error: console.error,
  });
  encoder.configure({ codec, width, height, framerate: 12, avc: { format: "avc" } });
  const context = new OffscreenCanvas(width, height).getContext("2d");
  for (const [at, background] of backgrounds.entries()) {
    context.fillStyle = background;
    context.fillRect(0, 0, width, height);
    const options = { timestamp: at * 1e6 / 12, duration: 1e6 / 12 };
    const frame = new VideoFrame(context.canvas, options);
    encoder.encode(frame, { keyFrame: at === 0 });
    frame.close();
  }
  await encoder.flush();
  return { description, chunks };
}

const framesOf = (background: (at: number) => string) =>
  Array.from({ length: 12 }, (_, at) => background(at));

browserTest("shots with different decoder settings play as well", async ({ openPage }) => {
  const page = await openPage();
  const grey = framesOf((at) => `rgb(${195 + 3 * at}, ${195 + 3 * at}, ${195 + 3 * at})`);
  const joined = await joinVideos([
    { video: await videoOf("red", 1) },
    { video: await browserVideo(page, { codec: "avc1.64001f", backgrounds: grey }) },
    { video: await videoOf("blue", 1) },
  ]);
  const played = await playVideo(page, joined.bytes, {
    looks: [[0.5, 0, 0], [1.05, 0, 0], [1.9, 0.5, 0.5], [2.5, 0, 0]],
  });
  const [first, second, brighter, third] = played.colours;
  assert.ok(isAbout(first!, "red") && isAbout(third!, "blue"), `${first} ${third}`);
  assert.ok(Math.min(...second!) > 180, `${second}`);
  assert.ok(brighter![0]! > second![0]! + 5, `${second} ${brighter}`);
  assert.equal(played.seconds, 3);
});

browserTest("a shot of another encoder, with a line, plays between ours", async ({ openPage }) => {
  const page = await openPage();
  const backgrounds = framesOf((at) => `rgb(20, ${170 + at * 5}, 20)`);
  const joined = await joinVideos([
    { video: await videoOf("red", 1) },
    {
      video: await browserVideo(page, { codec: "avc1.4d001f", backgrounds }),
      line: await mp3(0.5),
    },
    { video: await videoOf("blue", 1) },
  ]);
  const corner = [0.02, 0.04] as const;
  const played = await playVideo(page, joined.bytes, {
    looks: [[0.5, ...corner], [1.1, ...corner], [1.9, ...corner], [2.5, ...corner]],
  });
  const expected = ["red", "green", "green", "blue"] as const;
  played.colours.forEach((colour, at) => {
    assert.ok(isAbout(colour, expected[at]!), `${at}: ${colour}`);
  });
  assert.ok(Math.abs(played.seconds - 3) < 0.03, `${played.seconds}`);
});

/** A video whose first packet is no key frame, although its index says so. */
async function videoWithoutKeyFrame(): Promise<Blob> {
  const { decoderConfig, packets } = await new SampleVideos().get("16x9_green");
  const [first, ...others] = packets.slice(1);
  const claimed = first!.clone({ type: "key" });
  return new Blob([await makeVideo({ decoderConfig, packets: [claimed, ...others] }, 1000)]);
}

Deno.test("what cannot be joined is named, with the reason", STRICT, async () => {
  const video = await videoOf("red", 1);
  const refuses = async (shots: Parameters<typeof joinVideos>[0], shot: number, reason: RegExp) =>
    await assert.rejects(joinVideos(shots), (error) => {
      assert.ok(error instanceof CannotJoin);
      assert.equal(error.shot, shot);
      assert.match(error.message, reason);
      return true;
    });
  await refuses([], 0, /no shots/);
  await refuses([{ video }, { video: await videoOf("red", 1, "9x16") }], 1, /size/);
  await refuses([{ video }, { video: new Blob(["no video at all"]) }], 1, /cannot be read/);
  await refuses([{ video, line: new Blob(["no audio"]) }], 0, /cannot be read/);
  await refuses([{ video, line: wav(1) }, { video, line: wav(1, 16_000) }], 1, /sample rate/);
  const keyless = await videoWithoutKeyFrame();
  await refuses([{ video }, { video: keyless }], 1, /cannot be read/);
  await refuses([{ video: keyless }, { video }], 0, /cannot be read/);
  const silent = await mp3(1);
  await refuses([{ video }, { video: silent }], 1, /cannot be read/);
});
