import { CELL_HEIGHT, CELL_WIDTH, type Glyphs } from "./glyphs.ts";

export type Colour = readonly [red: number, green: number, blue: number];

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Pixels of three bytes each. */
export class Canvas {
  readonly pixels: Uint8Array<ArrayBuffer>;

  constructor(readonly width: number, readonly height: number) {
    this.pixels = new Uint8Array(width * height * 3);
  }

  /** From the top to the bottom; every row has one colour. */
  fillGradient(top: Colour, bottom: Colour): void {
    for (let y = 0; y < this.height; y++) {
      const colour = mix(top, bottom, this.height < 2 ? 0 : y / (this.height - 1));
      this.fillRect({ x: 0, y, width: this.width, height: 1 }, colour);
    }
  }

  fillRect({ x, y, width, height }: Rect, colour: Colour): void {
    const bytes = colour.map((value) => Math.round(value));
    const [from, to] = [Math.max(0, x), Math.min(this.width, x + width)];
    if (from >= to) return;
    for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row++) {
      const start = (row * this.width + from) * 3;
      const end = (row * this.width + to) * 3;
      this.pixels.set(bytes, start);
      // Doubles what is filled: much faster than pixel by pixel.
      for (let done = 3; done < end - start; done *= 2) {
        this.pixels.copyWithin(start + done, start, Math.min(start + done, end - done));
      }
    }
  }

  /** Another canvas, stretched over a rectangle. */
  drawScaled(source: Canvas, { x, y, width, height }: Rect): void {
    for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row++) {
      const sourceRow = Math.floor((row - y) * source.height / height);
      for (let column = Math.max(0, x); column < Math.min(this.width, x + width); column++) {
        const sourceColumn = Math.floor((column - x) * source.width / width);
        const from = (sourceRow * source.width + sourceColumn) * 3;
        const to = (row * this.width + column) * 3;
        this.pixels[to] = source.pixels[from]!;
        this.pixels[to + 1] = source.pixels[from + 1]!;
        this.pixels[to + 2] = source.pixels[from + 2]!;
      }
    }
  }

  /** One line of text whose top left corner is at `x`, `y`. */
  drawText(text: string, { glyphs, x, y, size, colour }: TextStyle): void {
    for (const character of text) {
      if (character !== " ") this.#drawCharacter(character, { glyphs, x, y, size, colour });
      x += characterWidth(size);
    }
  }

  #drawCharacter(character: string, { glyphs, x, y, size, colour }: TextStyle): void {
    const { coverage, stride } = glyphs;
    const offset = glyphs.offsetOf(character);
    const zoom = CELL_HEIGHT / size;
    const [left, top] = [Math.round(x), Math.round(y)];
    const bottom = Math.min(this.height, top + Math.ceil(size));
    const right = Math.min(this.width, left + Math.ceil(characterWidth(size)));
    for (let row = Math.max(0, top); row < bottom; row++) {
      const v = clamp((row - top + 0.5) * zoom - 0.5, CELL_HEIGHT - 1);
      const upper = offset + Math.floor(v) * stride;
      const lower = offset + Math.ceil(v) * stride;
      for (let column = Math.max(0, left); column < right; column++) {
        // Between four pixels of the cell.
        const u = clamp((column - left + 0.5) * zoom - 0.5, CELL_WIDTH - 1);
        const [before, after] = [Math.floor(u), Math.ceil(u)];
        const above = between(coverage[upper + before]!, coverage[upper + after]!, u - before);
        const below = between(coverage[lower + before]!, coverage[lower + after]!, u - before);
        const alpha = between(above, below, v % 1) / 255;
        if (alpha > 0) this.#blend((row * this.width + column) * 3, colour, alpha);
      }
    }
  }

  #blend(at: number, colour: Colour, alpha: number): void {
    const { pixels } = this;
    pixels[at] = between(pixels[at]!, colour[0], alpha) + 0.5;
    pixels[at + 1] = between(pixels[at + 1]!, colour[1], alpha) + 0.5;
    pixels[at + 2] = between(pixels[at + 2]!, colour[2], alpha) + 0.5;
  }
}

export interface TextStyle {
  readonly glyphs: Glyphs;
  readonly x: number;
  readonly y: number;
  /** Height of a line, in pixels. */
  readonly size: number;
  readonly colour: Colour;
}

function characterWidth(size: number): number {
  return size * CELL_WIDTH / CELL_HEIGHT;
}

export function textWidth(text: string, size: number): number {
  return [...text].length * characterWidth(size);
}

/** Lines no wider than a width. Words that are wider than a line are broken. */
export function wrapText(text: string, size: number, width: number): string[] {
  const columns = Math.max(1, Math.floor(width / characterWidth(size)));
  const lines: string[] = [];
  for (const paragraph of text.split(/\r?\n/)) {
    let line: string[] = [];
    for (const word of paragraph.split(/\s+/).filter((word) => word !== "")) {
      const characters = [...word];
      if (line.length > 0 && line.length + 1 + characters.length <= columns) {
        line.push(" ", ...characters);
        continue;
      }
      if (line.length > 0) lines.push(line.join(""));
      while (characters.length > columns) lines.push(characters.splice(0, columns).join(""));
      line = characters;
    }
    lines.push(line.join(""));
  }
  return lines;
}

/** The text in the largest size that fits a box; in the smallest size, the rest is cut off. */
export function fitText(
  text: string,
  box: Pick<Rect, "width" | "height">,
  { largest, smallest }: { largest: number; smallest: number },
): { lines: string[]; size: number } {
  for (let size = largest;; size = Math.max(smallest, size * 0.85)) {
    const lines = wrapText(text, size, box.width);
    const linesMax = Math.max(1, Math.floor(box.height / size));
    if (lines.length <= linesMax) return { lines, size };
    if (size === smallest) {
      const last = `${lines[linesMax - 1]!.slice(0, -1)}…`;
      return { lines: [...lines.slice(0, linesMax - 1), last], size };
    }
  }
}

function mix(one: Colour, other: Colour, share: number): Colour {
  return [
    between(one[0], other[0], share),
    between(one[1], other[1], share),
    between(one[2], other[2], share),
  ];
}

/** Hue in degrees, the others from 0 to 1. */
export function hsl(hue: number, saturation: number, lightness: number): Colour {
  const channel = (offset: number) => {
    const turn = (offset + hue / 30) % 12;
    const spread = saturation * Math.min(lightness, 1 - lightness);
    return 255 * (lightness - spread * Math.max(-1, Math.min(turn - 3, 9 - turn, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}

function between(one: number, other: number, share: number): number {
  return one + (other - one) * share;
}

function clamp(value: number, max: number): number {
  return value < 0 ? 0 : value > max ? max : value;
}
