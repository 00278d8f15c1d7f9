import type { ImageInput } from "../../src/upstream/adapter.ts";
import { generationOf } from "./model.ts";

const SMALL_EDGE = 384;
const TOKENS_PER_TILE = 258;
/** The edge of a tile is two thirds of the image's shorter side. */
const TILES_ALONG_SHORT = 1.5;
/** From the third generation on, the tokens of an image do not depend on its size. */
const TOKENS_FIXED = 2240;

/** The maximum tokens of an image; null where they depend on an unknown size. */
export function imageTokens({ size }: ImageInput, model: string): number | null {
  if (generationOf(model) === "levels") return TOKENS_FIXED;
  if (size === null) return null;
  if (Math.max(size.width, size.height) <= SMALL_EDGE) return TOKENS_PER_TILE;
  const edge = Math.max(1, Math.floor(Math.min(size.width, size.height) / TILES_ALONG_SHORT));
  return TOKENS_PER_TILE * Math.ceil(size.width / edge) * Math.ceil(size.height / edge);
}
