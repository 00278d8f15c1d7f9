import { readPng } from "./png.ts";

/** Every character the sheet holds, in its order: row by row, `COLUMNS` in a row. */
export const CHARACTERS = [
  range(0x20, 0x7e),
  range(0xa1, 0xac),
  range(0xae, 0xff),
  range(0x391, 0x3a1),
  range(0x3a3, 0x3ce),
  "\u0401\u0451",
  range(0x410, 0x44f),
  "ŒœŠšŽžıŁłğşțș–—‘’“”„•…€™←→✓\u25a1",
].join("");

/** Pixels of one character. The font is monospaced: all have the same size. */
export const CELL_WIDTH = 24;
export const CELL_HEIGHT = 50;
export const COLUMNS = 20;
/** Stands for characters the sheet does not have. */
const PLACEHOLDER = "\u25a1";

/** The sheet `samples/glyphs.png`, made by scripts/make_simulator_samples.ts. */
export class Glyphs {
  /** How much of each pixel of the sheet is covered, from 0 to 255. */
  readonly coverage: Uint8Array;
  /** Pixels in a row of the sheet. */
  readonly stride: number;
  readonly #indexes = new Map([...CHARACTERS].map((character, index) => [character, index]));

  constructor() {
    const sheet = readPng(Deno.readFileSync(new URL("./samples/glyphs.png", import.meta.url)));
    if (sheet === null) throw new Error("Cannot read the glyph sheet: it is no PNG file.");
    // The sheet is grey: its three channels are equal.
    this.coverage = sheet.pixels.filter((_, at) => at % 3 === 0);
    this.stride = sheet.width;
  }

  /** Where the cell of a character begins in `coverage`. */
  offsetOf(character: string): number {
    const index = this.#indexOf(character);
    return Math.floor(index / COLUMNS) * CELL_HEIGHT * this.stride + index % COLUMNS * CELL_WIDTH;
  }

  #indexOf(character: string): number {
    // A letter with an unknown accent is drawn without it.
    return this.#indexes.get(character) ?? this.#indexes.get(character.normalize("NFD")[0]!) ??
      this.#indexes.get(PLACEHOLDER)!;
  }
}

function range(from: number, to: number): string {
  return String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, at) => from + at));
}
