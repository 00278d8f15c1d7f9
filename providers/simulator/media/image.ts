import { seededRandom } from "../random.ts";
import { Canvas, type Colour, fitText, hsl, textWidth } from "./canvas.ts";
import type { Glyphs } from "./glyphs.ts";

/** What an image shows. The same options always make the same image. */
export interface ImageOptions {
  readonly width: number;
  readonly height: number;
  readonly prompt: string;
  /** Decides the colours. */
  readonly seed: string;
  /** A small line at the bottom, such as "1 of 4". */
  readonly footnote: string;
  /** Small copies of the input images. */
  readonly inputs: readonly Canvas[];
}

const WHITE: Colour = [255, 255, 255];

/** The prompt on a coloured background, below the input images. */
export function drawImage(options: ImageOptions, glyphs: Glyphs): Canvas {
  const { width, height, seed, inputs, footnote } = options;
  const canvas = new Canvas(width, height);
  const { top, bottom, light } = paletteFrom(seed);
  canvas.fillGradient(top, bottom);
  const side = Math.min(width, height);
  const margin = Math.round(side / 14);
  const inset = inputs.length > 0 ? Math.round(side / 4.5) : 0;
  const gap = Math.round(margin / 2);
  inputs.forEach((input, at) => {
    const [x, y] = [margin + at * (inset + gap), margin];
    canvas.fillRect({ x: x - 2, y: y - 2, width: inset + 4, height: inset + 4 }, WHITE);
    canvas.drawScaled(input, { x, y, width: inset, height: inset });
  });
  const small = Math.max(10, Math.round(side / 32));
  const promptTop = margin + (inset > 0 ? inset + gap : 0);
  const box = {
    x: margin,
    y: promptTop,
    width: width - 2 * margin,
    height: height - promptTop - margin - 2 * small,
  };
  if (options.prompt.trim() !== "") {
    const sizes = { largest: side / 5.5, smallest: Math.max(11, side / 35) };
    const { lines, size } = fitText(options.prompt, box, sizes);
    const textTop = box.y + Math.max(0, (box.height - lines.length * size) / 2);
    lines.forEach((line, at) => {
      canvas.drawText(line, { glyphs, x: box.x, y: textTop + at * size, size, colour: WHITE });
    });
  }
  const footer = { glyphs, y: height - margin - small, size: small, colour: light };
  canvas.drawText(`simulated ${width}×${height}`, { ...footer, x: margin });
  canvas.drawText(footnote, { ...footer, x: width - margin - textWidth(footnote, small) });
  return canvas;
}

/** Colours that go together, dark enough for white text. */
function paletteFrom(seed: string): { top: Colour; bottom: Colour; light: Colour } {
  const random = seededRandom(seed);
  const hue = random.below(360);
  const turn = 30 + random.below(60);
  return {
    top: hsl(hue, 0.55, 0.36),
    bottom: hsl((hue + turn) % 360, 0.6, 0.2),
    light: hsl((hue + turn) % 360, 0.6, 0.8),
  };
}
