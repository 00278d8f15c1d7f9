/**
 * Makes the prepared media in providers/simulator/media/samples/ with the Chromium of this machine:
 * glyphs.png, the characters that images show their prompt with, and short loops of H.264 video.
 *
 *     deno run -A scripts/make_simulator_samples.ts
 *
 * Needed only when characters, shapes or colours are added. The font's licence lies beside the samples.
 */
import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import {
  CELL_HEIGHT,
  CELL_WIDTH,
  CHARACTERS,
  COLUMNS,
} from "../providers/simulator/media/glyphs.ts";
import {
  COLOURS,
  FRAMES_PER_SECOND,
  SHAPES,
  type VideoColour,
} from "../providers/simulator/media/sample_videos.ts";
import { openBrowser } from "../test/helpers/chromium.ts";

const SAMPLES = new URL("../providers/simulator/media/samples/", import.meta.url);
const LOOP_SECONDS = 2;
const GREY = 0;
const CODEC = "avc1.42001f";
const RGB: Readonly<Record<VideoColour | "avatar", string>> = {
  red: "rgb(190, 40, 45)",
  green: "rgb(35, 140, 60)",
  blue: "rgb(40, 60, 175)",
  avatar: "rgb(70, 75, 90)",
};

await using opened = await openBrowser();
const page = await opened.openPage();
// Chromium offers VideoEncoder to pages of a secure origin only.
await page.route(
  "https://page.invalid/",
  (route) => route.fulfill({ contentType: "text/html", body: "<body></body>" }),
);
await page.goto("https://page.invalid/");
const glyphs = PNG.sync.read(
  Buffer.from(await page.evaluate(drawGlyphs, glyphOptions()), "base64"),
);
await write("glyphs.png", PNG.sync.write(glyphs, { colorType: GREY, deflateLevel: 9 }));
for (const { name, width, height } of SHAPES) {
  for (const colour of [...COLOURS, "avatar"] as const) {
    await write(`${name}_${colour}.mp4`, await makeLoop(page, { width, height, colour }));
  }
}

async function write(name: string, bytes: Uint8Array): Promise<void> {
  await Deno.writeFile(new URL(name, SAMPLES), bytes);
  console.log(name, bytes.length);
}

function glyphOptions() {
  const characters = [...CHARACTERS];
  return { characters, columns: COLUMNS, cellWidth: CELL_WIDTH, cellHeight: CELL_HEIGHT };
}

async function makeLoop(
  page: Page,
  { width, height, colour }: { width: number; height: number; colour: VideoColour | "avatar" },
): Promise<Uint8Array> {
  const { description, chunks } = await page.evaluate(encodeLoop, {
    width,
    height,
    background: RGB[colour],
    isAvatar: colour === "avatar",
    codec: CODEC,
    frames: LOOP_SECONDS * FRAMES_PER_SECOND,
    framesPerSecond: FRAMES_PER_SECOND,
  });
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target });
  const source = new EncodedVideoPacketSource("avc");
  output.addVideoTrack(source, { frameRate: FRAMES_PER_SECOND });
  await output.start();
  const decoderConfig = {
    codec: CODEC,
    codedWidth: width,
    codedHeight: height,
    description: Uint8Array.fromBase64(description),
  };
  for (const [at, base64] of chunks.entries()) {
    const packet = new EncodedPacket(
      Uint8Array.fromBase64(base64),
      at === 0 ? "key" : "delta",
      at / FRAMES_PER_SECOND,
      1 / FRAMES_PER_SECOND,
    );
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return new Uint8Array(target.buffer!);
}

/** Runs in the page. */
async function drawGlyphs(
  { characters, columns, cellWidth, cellHeight }: ReturnType<typeof glyphOptions>,
): Promise<string> {
  const rows = Math.ceil(characters.length / columns);
  // deno-lint-ignore no-explicit-any
  const canvas = new (globalThis as any).OffscreenCanvas(columns * cellWidth, rows * cellHeight);
  const context = canvas.getContext("2d", { alpha: false });
  context.font = "bold 40px 'DejaVu Sans Mono'";
  context.fillStyle = "#fff";
  context.textAlign = "center";
  characters.forEach((character, at) => {
    const [left, top] = [at % columns * cellWidth, Math.floor(at / columns) * cellHeight];
    context.fillText(character, left + cellWidth / 2, top + 39);
    // What reaches into the cells below and beside is removed before they are drawn.
    context.clearRect(left + cellWidth, top, columns * cellWidth, cellHeight);
    context.clearRect(0, top + cellHeight, columns * cellWidth, cellHeight);
  });
  const blob = await canvas.convertToBlob({ type: "image/png" });
  let binary = "";
  for (const byte of new Uint8Array(await blob.arrayBuffer())) binary += String.fromCharCode(byte);
  return btoa(binary);
}

interface LoopOptions {
  readonly width: number;
  readonly height: number;
  readonly background: string;
  readonly isAvatar: boolean;
  readonly codec: string;
  readonly frames: number;
  readonly framesPerSecond: number;
}

/** Runs in the page. The last frame leads back to the first, so that the loop has no visible seam. */
async function encodeLoop(options: LoopOptions) {
  const { width, height, background, isAvatar, codec, frames, framesPerSecond } = options;
  // deno-lint-ignore no-explicit-any
  const { OffscreenCanvas, VideoEncoder, VideoFrame } = globalThis as any;
  const toBase64 = (bytes: Uint8Array) => {
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return btoa(binary);
  };
  const chunks: string[] = [];
  let description = "";
  const encoder = new VideoEncoder({
    // deno-lint-ignore no-explicit-any
    output(chunk: any, metadata: any) {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      chunks.push(toBase64(bytes));
      const found = metadata.decoderConfig?.description;
      if (found) description = toBase64(new Uint8Array(found));
    },
    error: console.error,
  });
  encoder.configure({
    codec,
    width,
    height,
    framerate: framesPerSecond,
    bitrate: 60_000,
    avc: { format: "avc" },
  });
  const context = new OffscreenCanvas(width, height).getContext("2d");
  const side = Math.min(width, height);
  const ellipse = (colour: string, [x, y, width, height]: number[]) => {
    context.fillStyle = colour;
    context.beginPath();
    context.ellipse(x, y, width, height, 0, 0, 2 * Math.PI);
    context.fill();
  };
  for (let at = 0; at < frames; at++) {
    const turn = 2 * Math.PI * at / frames;
    context.fillStyle = background;
    context.fillRect(0, 0, width, height);
    context.fillStyle = "#fff";
    context.textAlign = "center";
    context.font = `bold ${Math.round(side / 14)}px 'DejaVu Sans Mono'`;
    context.fillText(isAvatar ? "simulated avatar" : "simulated video", width / 2, height * 0.92);
    if (isAvatar) {
      const [x, y, face] = [width / 2, height * 0.45, side * 0.32];
      ellipse("rgb(225, 190, 160)", [x, y, face, face]);
      for (const eye of [-1, 1]) {
        ellipse("#222", [x + eye * face * 0.4, y - face * 0.25, face / 9, face / 9]);
      }
      // Four syllables in a loop; the mouth is shut at its start.
      const open = face * (0.02 + 0.11 * (1 - Math.cos(4 * turn)));
      ellipse("#701020", [x, y + face * 0.45, face * 0.4, open]);
    } else {
      const radius = side / 12;
      const x = width / 2 - (width / 2 - 2 * radius) * Math.cos(turn);
      const y = height / 2 - Math.abs(Math.sin(2 * turn)) * side / 4;
      ellipse("#fff", [x, y, radius, radius]);
    }
    const timestamp = at * 1e6 / framesPerSecond;
    const frame = new VideoFrame(context.canvas, { timestamp, duration: 1e6 / framesPerSecond });
    encoder.encode(frame, { keyFrame: at === 0 });
    frame.close();
  }
  await encoder.flush();
  return { description, chunks };
}
