import { inflateRawSync } from "node:zlib";
import packed from "./font.txt" with { type: "text" };

/** A letter as a field: each cell tells how far the outline is, from 40 far outside to 88 far inside. */
export interface Glyph<Cells = Uint8Array> {
  readonly letter: string;
  /** How far the next letter is, in cells. */
  readonly advance: number;
  readonly width: number;
  readonly cells: Cells;
}

export interface Font {
  /** Cells of one em. */
  readonly em: number;
  /** Empty cells around each letter. */
  readonly pad: number;
  /** Cells from the top to the baseline. */
  readonly ascent: number;
  readonly height: number;
  glyph(letter: string): Glyph;
}

/** The outline; cells below lie outside. */
export const EDGE = 64;
/** Steps of a cell's value that make one cell of distance. */
export const STEPS_PER_CELL = 8;

let loaded: Font | undefined;

/** Unpacked when the first letter is drawn: a gateway that draws nothing need not wait for it. */
export function font(): Font {
  return loaded ??= load();
}

function load(): Font {
  const { glyphs, ...measures } = JSON.parse(
    inflateRawSync(Uint8Array.fromBase64(packed.replaceAll("\n", ""))).toString(),
  ) as Omit<Font, "glyph"> & { glyphs: Glyph<string>[] };
  const encoder = new TextEncoder();
  const known = new Map<string, Glyph>(
    glyphs.map((glyph) => [glyph.letter, { ...glyph, cells: encoder.encode(glyph.cells) }]),
  );
  const unknown = known.get("\u25a1")!;
  return {
    ...measures,
    // An accent that is not drawn is left out rather than the letter beneath it.
    glyph: (letter) => known.get(letter) ?? known.get(letter.normalize("NFD")[0]!) ?? unknown,
  };
}
