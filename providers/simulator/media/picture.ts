import { chanceFrom } from "../chance.ts";
import { Canvas, type Colour, fitText, hsl, lineHeight, textWidth } from "./canvas.ts";

/** What a picture shows. The same always looks the same. */
export interface PictureAsk {
  readonly width: number;
  readonly height: number;
  readonly prompt: string;
  /** Decides the colours. */
  readonly seed: string;
  /** A small line below, such as "1 of 4". */
  readonly note: string;
  /** Small copies of the pictures it was made from. */
  readonly inputs: readonly Canvas[];
}

export const WHITE: Colour = [255, 255, 255];

/** Two colours that go together, dark enough for white letters. */
export function paletteFrom(seed: string): { top: Colour; bottom: Colour; light: Colour } {
  const chance = chanceFrom(seed);
  const hue = chance.below(360);
  const turn = 30 + chance.below(60);
  return {
    top: hsl(hue, 0.55, 0.36),
    bottom: hsl((hue + turn) % 360, 0.6, 0.2),
    light: hsl((hue + turn) % 360, 0.6, 0.8),
  };
}

/** The prompt on a coloured ground. */
export function drawPicture(ask: PictureAsk): Canvas {
  const { width, height, seed, inputs } = ask;
  const canvas = new Canvas(width, height);
  const { top, bottom, light } = paletteFrom(seed);
  canvas.fillGradient(top, bottom);
  const chance = chanceFrom(`${seed} circles`);
  const side = Math.min(width, height);
  for (let circle = 0; circle < 5; circle++) {
    const radius = side * (0.12 + chance.below(100) / 300);
    canvas.fillCircle(chance.below(width), chance.below(height), radius, light, 0.07);
  }
  const margin = Math.round(side / 14);
  let textTop = margin;
  if (inputs.length > 0) {
    const inset = Math.round(side / 4.5);
    const gap = Math.round(margin / 2);
    inputs.forEach((input, at) => {
      const x = margin + at * (inset + gap);
      canvas.fillRect(x - 2, margin - 2, inset + 4, inset + 4, WHITE, 0.8);
      canvas.drawSmooth(input, x, margin, inset, inset);
    });
    textTop += inset + gap;
  }
  const small = Math.max(8, Math.round(side / 40));
  drawPrompt(canvas, ask.prompt, {
    x: margin,
    y: textTop,
    width: width - 2 * margin,
    height: height - textTop - margin - 2 * small,
    largest: side / 9,
    smallest: Math.max(9, side / 45),
  });
  const footY = height - margin - Math.round(small / 2);
  canvas.fillRect(margin, footY - Math.round(small / 2), width - 2 * margin, 1, WHITE, 0.35);
  canvas.drawText(`simulated ${width}×${height}`, margin, footY, small, light);
  canvas.drawText(
    ask.note,
    width - margin - textWidth(ask.note, small),
    footY,
    small,
    light,
  );
  return canvas;
}

export interface TextBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly largest: number;
  readonly smallest: number;
}

/** A text in the middle of a box, as large as fits. */
export function drawPrompt(canvas: Canvas, prompt: string, box: TextBox): void {
  if (prompt.trim() === "") return;
  const { lines, size } = fitText(prompt, box.width, box.height, box);
  let y = box.y + Math.max(0, Math.round((box.height - lines.length * lineHeight(size)) / 2));
  for (const line of lines) {
    canvas.drawText(line, box.x, y, size, WHITE);
    y += lineHeight(size);
  }
}
