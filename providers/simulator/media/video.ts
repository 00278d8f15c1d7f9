import { chanceFrom } from "../chance.ts";
import { Canvas, lineHeight, textWidth } from "./canvas.ts";
import { H264Encoder, type Planes } from "./h264.ts";
import { avcEntry, avcSample, type Mp4Sample, type Mp4Track, writeMp4 } from "./mp4.ts";
import { drawPrompt, paletteFrom, WHITE } from "./picture.ts";
import { sleep } from "../../../src/lib/timers.ts";

/** What a clip shows. The same always looks the same, byte for byte. */
export interface ClipAsk {
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  readonly prompt: string;
  readonly seed: string;
  /** A small copy of the picture it starts from. */
  readonly backdrop: Canvas | null;
  /** The backdrop is a face that speaks. */
  readonly speaks: boolean;
  readonly sound: Mp4Track | null;
}

const FRAMES_PER_SECOND = 12;
const TIMESCALE = FRAMES_PER_SECOND * 1000;
/** A reader that jumps need not decode more than this many pictures. */
const KEY_EVERY = FRAMES_PER_SECOND * 4;
/** Others get their turn after this many pictures. */
const PICTURES_AT_ONCE = 24;

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** An MP4 that browsers play, of exactly the length asked for. */
export async function makeClip(ask: ClipAsk): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height, durationMs } = ask;
  const encoder = new H264Encoder(width, height);
  const ground = new Canvas(encoder.columns * 16, encoder.rows * 16);
  const moving = drawScene(ground, ask);
  const canvas = new Canvas(ground.width, ground.height);
  canvas.pixels.set(ground.pixels);
  const planes = encoder.emptyPlanes();
  const count = Math.max(1, Math.ceil(durationMs * FRAMES_PER_SECOND / 1000));
  const samples: Mp4Sample[] = [];
  let drawn: readonly Rect[] = [];
  for (let at = 0; at < count; at++) {
    for (const rect of drawn) restore(canvas, ground, rect);
    const before = drawn;
    drawn = moving(canvas, at, count);
    const isKey = at % KEY_EVERY === 0;
    const changed = blocksOf([...before, ...drawn], encoder);
    if (at === 0) {
      for (let block = 0; block < encoder.columns * encoder.rows; block++) changed.add(block);
    }
    for (const block of changed) convertBlock(canvas, planes, block, encoder.columns);
    const { bytes } = encoder.encode(planes, isKey ? null : changed);
    samples.push({
      bytes: avcSample(bytes),
      ticks: at < count - 1 ? 1000 : Math.max(1, Math.round(durationMs * 12) - at * 1000),
      isKey,
    });
    if (at % PICTURES_AT_ONCE === PICTURES_AT_ONCE - 1) await sleep(0);
  }
  const picture: Mp4Track = {
    kind: "video",
    timescale: TIMESCALE,
    samples,
    entry: avcEntry(encoder),
    width,
    height,
  };
  return writeMp4(ask.sound === null ? [picture] : [picture, ask.sound]);
}

/** Draws what stands still; what is returned draws what moves, and says where it did. */
function drawScene(
  ground: Canvas,
  { width, height, prompt, seed, backdrop, speaks, durationMs }: ClipAsk,
): (canvas: Canvas, at: number, count: number) => readonly Rect[] {
  const { top, bottom, light } = paletteFrom(seed);
  ground.fillGradient(top, bottom);
  const side = Math.min(width, height);
  const margin = Math.round(side / 14);
  const small = Math.round(side / 20);
  const bar: Rect = { x: margin, y: height - margin - 16, width: width - 2 * margin, height: 16 };
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  const face = Math.round(side * 0.55);
  const faceX = Math.round((width - face) / 2);
  if (backdrop !== null && !speaks) {
    ground.drawSmooth(backdrop, 0, 0, width, height);
    ground.fillRect(0, 0, width, height, [0, 0, 0], 0.35);
  }
  if (speaks) {
    ground.fillRect(faceX - 3, margin - 3, face + 6, face + 6, WHITE);
    if (backdrop === null) ground.fillRect(faceX, margin, face, face, light);
    else ground.drawSmooth(backdrop, faceX, margin, face, face);
  }
  const textTop = speaks ? margin + face + small : margin;
  drawPrompt(ground, prompt, {
    x: margin,
    y: textTop,
    width: width - 2 * margin,
    height: bar.y - lineHeight(small) - small - textTop,
    largest: side / 9,
    smallest: side / 30,
  });
  ground.fillRect(bar.x, bar.y, bar.width, bar.height, [0, 0, 0], 0.4);
  const timeY = bar.y - lineHeight(small) - 4;
  const total = ` / ${seconds}`;
  const totalX = width - margin - textWidth(total, small);
  ground.drawText(total, totalX, timeY, small, light);
  const mouths = mouthsFrom(seed);

  return (canvas, at, count) => {
    const share = (at + 1) / count;
    canvas.fillRect(bar.x, bar.y, Math.round(bar.width * share), bar.height, light);
    const now = (at / FRAMES_PER_SECOND).toFixed(1);
    const nowWidth = textWidth(now, small);
    canvas.drawText(now, totalX - nowWidth, timeY, small, light);
    const rects: Rect[] = [
      bar,
      { x: totalX - nowWidth - 4, y: timeY, width: nowWidth + 8, height: lineHeight(small) + 8 },
    ];
    if (speaks) {
      const open = Math.max(2, Math.round(face * 0.12 * mouths[at % mouths.length]!));
      const [centreX, centreY] = [faceX + face / 2, margin + face * 0.72];
      const radius = Math.round(face * 0.13);
      for (let line = -open; line <= open; line++) {
        const half = Math.round(radius * Math.sqrt(1 - (line / (open + 1)) ** 2));
        canvas.fillRect(centreX - half | 0, centreY + line | 0, 2 * half, 1, [60, 10, 20]);
      }
      rects.push({
        x: centreX - radius - 1,
        y: centreY - open - 1,
        width: 2 * radius + 2,
        height: 2 * open + 3,
      });
    } else {
      const ball = Math.round(side / 24);
      const x = margin + ball + (width - 2 * margin - 2 * ball) * share;
      const y = timeY - ball * (1 + 1.5 * Math.abs(Math.sin(at / 5)));
      canvas.fillCircle(x, y, ball, WHITE, 0.85);
      rects.push({ x: x - ball - 1, y: y - ball - 1, width: 2 * ball + 2, height: 2 * ball + 2 });
    }
    return rects;
  };
}

/** How far a mouth is open, picture by picture: syllables, and a breath now and then. */
function mouthsFrom(seed: string): readonly number[] {
  const chance = chanceFrom(`${seed} mouth`);
  return Array.from({ length: 96 }, (_, at) => at % 24 > 20 ? 0 : chance.below(100) / 100);
}

function restore(canvas: Canvas, ground: Canvas, rect: Rect): void {
  const [fromX, toX] = [Math.max(0, Math.floor(rect.x)), Math.ceil(rect.x + rect.width)];
  const toY = Math.min(canvas.height, Math.ceil(rect.y + rect.height));
  for (let y = Math.max(0, Math.floor(rect.y)); y < toY; y++) {
    const start = (y * canvas.width + fromX) * 3;
    const end = (y * canvas.width + Math.min(canvas.width, toX)) * 3;
    canvas.pixels.set(ground.pixels.subarray(start, end), start);
  }
}

function blocksOf(rects: readonly Rect[], { columns, rows }: H264Encoder): Set<number> {
  const blocks = new Set<number>();
  for (const { x, y, width, height } of rects) {
    const lastRow = Math.min(rows - 1, Math.floor((y + height) / 16));
    const lastColumn = Math.min(columns - 1, Math.floor((x + width) / 16));
    for (let row = Math.max(0, Math.floor(y / 16)); row <= lastRow; row++) {
      for (let column = Math.max(0, Math.floor(x / 16)); column <= lastColumn; column++) {
        blocks.add(row * columns + column);
      }
    }
  }
  return blocks;
}

/** BT.709 in the limited range; each pair of colour samples is the mean of four pixels. */
function convertBlock(canvas: Canvas, planes: Planes, block: number, columns: number): void {
  const [left, top] = [block % columns * 16, Math.floor(block / columns) * 16];
  const { pixels, width } = canvas;
  for (let y = top; y < top + 16; y += 2) {
    for (let x = left; x < left + 16; x += 2) {
      let [red, green, blue] = [0, 0, 0];
      for (let corner = 0; corner < 4; corner++) {
        const place = (y + (corner >> 1)) * width + x + (corner & 1);
        const [r, g, b] = [pixels[place * 3]!, pixels[place * 3 + 1]!, pixels[place * 3 + 2]!];
        planes.luma[place] = 16.5 + 0.1826 * r + 0.6142 * g + 0.062 * b;
        red += r;
        green += g;
        blue += b;
      }
      const place = y / 2 * (width / 2) + x / 2;
      planes.blue[place] = 128.5 + (-0.1006 * red - 0.3386 * green + 0.4392 * blue) / 4;
      planes.red[place] = 128.5 + (0.4392 * red - 0.3989 * green - 0.0403 * blue) / 4;
    }
  }
}
