import { EDGE, font, type Glyph, STEPS_PER_CELL } from "./font.ts";

export type Colour = readonly [red: number, green: number, blue: number];

/** A drawing of pixels, three bytes each. */
export class Canvas {
  readonly pixels: Uint8Array<ArrayBuffer>;

  constructor(readonly width: number, readonly height: number) {
    this.pixels = new Uint8Array(width * height * 3);
  }

  /** From the top to the bottom; every row has one colour. */
  fillGradient(top: Colour, bottom: Colour): void {
    for (let y = 0; y < this.height; y++) {
      const at = this.height < 2 ? 0 : y / (this.height - 1);
      this.#fillRow(y, 0, this.width, mix(top, bottom, at), 1);
    }
  }

  fillRect(x: number, y: number, width: number, height: number, colour: Colour, alpha = 1): void {
    for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row++) {
      this.#fillRow(row, Math.max(0, x), Math.min(this.width, x + width), colour, alpha);
    }
  }

  fillCircle(centreX: number, centreY: number, radius: number, colour: Colour, alpha = 1): void {
    const from = Math.max(0, Math.floor(centreY - radius));
    const to = Math.min(this.height - 1, Math.ceil(centreY + radius));
    for (let y = from; y <= to; y++) {
      const half = Math.sqrt(Math.max(0, radius ** 2 - (y + 0.5 - centreY) ** 2));
      const left = Math.max(0, Math.round(centreX - half));
      const right = Math.min(this.width, Math.round(centreX + half));
      this.#fillRow(y, left, right, colour, alpha);
    }
  }

  #fillRow(y: number, from: number, to: number, [red, green, blue]: Colour, alpha: number): void {
    const { pixels } = this;
    const start = (y * this.width + from) * 3;
    const end = (y * this.width + to) * 3;
    if (alpha === 1) {
      if (start >= end) return;
      pixels[start] = red + 0.5;
      pixels[start + 1] = green + 0.5;
      pixels[start + 2] = blue + 0.5;
      for (let done = 3; done < end - start; done *= 2) {
        pixels.copyWithin(start + done, start, Math.min(start + done, end - done));
      }
      return;
    }
    // In 256ths, and whole: this is the inner loop of every drawing.
    const share = Math.round(alpha * 256);
    const keep = 256 - share;
    const [r, g, b] = [red * share + 128 | 0, green * share + 128 | 0, blue * share + 128 | 0];
    for (let at = start; at < end; at += 3) {
      pixels[at] = pixels[at]! * keep + r >> 8;
      pixels[at + 1] = pixels[at + 1]! * keep + g >> 8;
      pixels[at + 2] = pixels[at + 2]! * keep + b >> 8;
    }
  }

  /** Another drawing, stretched over a rectangle and smoothed between its pixels. */
  drawSmooth(small: Canvas, x: number, y: number, width: number, height: number): void {
    for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row++) {
      const v = clamp((row - y + 0.5) / height * small.height - 0.5, small.height - 1);
      const [top, share] = [Math.floor(v), v % 1];
      const bottom = Math.min(top + 1, small.height - 1);
      for (let column = Math.max(0, x); column < Math.min(this.width, x + width); column++) {
        const u = clamp((column - x + 0.5) / width * small.width - 0.5, small.width - 1);
        const [left, part] = [Math.floor(u), u % 1];
        const right = Math.min(left + 1, small.width - 1);
        const at = (row * this.width + column) * 3;
        for (let channel = 0; channel < 3; channel++) {
          const of = (line: number, place: number) =>
            small.pixels[(line * small.width + place) * 3 + channel]!;
          const above = of(top, left) * (1 - part) + of(top, right) * part;
          const below = of(bottom, left) * (1 - part) + of(bottom, right) * part;
          this.pixels[at + channel] = above * (1 - share) + below * share + 0.5;
        }
      }
    }
  }

  /** One line of text, `y` being its top; returns where it ends. */
  drawText(text: string, x: number, y: number, size: number, colour: Colour): number {
    for (const letter of text) {
      const glyph = font().glyph(letter);
      if (letter !== " ") this.#drawGlyph(glyph, x, y, size, colour);
      x += glyph.advance * size / font().em;
    }
    return x;
  }

  #drawGlyph(glyph: Glyph, x: number, y: number, size: number, colour: Colour): void {
    const { em, pad, height } = font();
    const zoom = size / em;
    const { cells, width } = glyph;
    const { pixels } = this;
    const [red, green, blue] = colour;
    const [left, top] = [x - pad * zoom, y];
    const fromY = Math.max(0, Math.floor(top));
    const toY = Math.min(this.height, Math.ceil(top + height * zoom));
    const fromX = Math.max(0, Math.floor(left));
    const toX = Math.min(this.width, Math.ceil(left + width * zoom));
    const sharpness = zoom / STEPS_PER_CELL;
    for (let row = fromY; row < toY; row++) {
      const v = clamp((row + 0.5 - top) / zoom - 0.5, height - 1);
      const line = Math.floor(v);
      const share = v - line;
      const above = line * width;
      const below = line + 1 < height ? above + width : above;
      let at = (row * this.width + fromX) * 3;
      for (let column = fromX; column < toX; column++, at += 3) {
        const u = clamp((column + 0.5 - left) / zoom - 0.5, width - 1);
        const before = Math.floor(u);
        const after = before + 1 < width ? before + 1 : before;
        const upper = cells[above + before]! +
          (cells[above + after]! - cells[above + before]!) * (u - before);
        const lower = cells[below + before]! +
          (cells[below + after]! - cells[below + before]!) * (u - before);
        const cover = (upper + (lower - upper) * share - EDGE) * sharpness + 0.5;
        if (cover <= 0) continue;
        const alpha = cover < 1 ? cover : 1;
        pixels[at] = pixels[at]! + (red - pixels[at]!) * alpha + 0.5;
        pixels[at + 1] = pixels[at + 1]! + (green - pixels[at + 1]!) * alpha + 0.5;
        pixels[at + 2] = pixels[at + 2]! + (blue - pixels[at + 2]!) * alpha + 0.5;
      }
    }
  }
}

export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const letter of text) width += font().glyph(letter).advance;
  return width * size / font().em;
}

/** Height of a line of text of a size, with the air below it. */
export const lineHeight = (size: number): number => Math.round(size * 1.3);

/** Lines no wider than a width. Words that are wider than a line are broken. */
export function wrapText(text: string, size: number, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split(/\r?\n/)) {
    let line = "";
    let taken = 0;
    for (const word of paragraph.split(/\s+/).filter((word) => word !== "")) {
      const longer = line === "" ? word : ` ${word}`;
      const more = textWidth(longer, size);
      if (taken + more <= width) {
        line += longer;
        taken += more;
        continue;
      }
      if (line !== "") lines.push(line);
      line = "";
      for (const letter of word) {
        if (textWidth(line + letter, size) > width && line !== "") {
          lines.push(line);
          line = "";
        }
        line += letter;
      }
      taken = textWidth(line, size);
    }
    lines.push(line);
  }
  return lines;
}

/** The text in the largest size that fits a box; in the smallest, what does not fit is left out. */
export function fitText(
  text: string,
  width: number,
  height: number,
  { largest, smallest }: { largest: number; smallest: number },
): { lines: string[]; size: number } {
  for (let size = largest;; size = Math.max(smallest, size * 0.85)) {
    const lines = wrapText(text, size, width);
    const room = Math.max(1, Math.floor(height / lineHeight(size)));
    if (lines.length <= room) return { lines, size };
    if (size === smallest) {
      return { lines: [...lines.slice(0, room - 1), `${lines[room - 1]!.slice(0, -1)}…`], size };
    }
  }
}

export function mix(one: Colour, other: Colour, share: number): Colour {
  return [
    one[0] + (other[0] - one[0]) * share,
    one[1] + (other[1] - one[1]) * share,
    one[2] + (other[2] - one[2]) * share,
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

function clamp(value: number, max: number): number {
  return value < 0 ? 0 : value > max ? max : value;
}
