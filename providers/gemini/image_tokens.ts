import type { ImageInput } from "../../src/upstream/adapter.ts";
import { generationOf } from "./model.ts";

const SMALL_EDGE = 384;
const TOKENS_PER_TILE = 258;
/** An image is cut into tiles two thirds as long as its shorter side. */
const TILES_ALONG_SHORT = 1.5;
/** From the third generation on an image counts the same whatever its size. */
const TOKENS_FIXED = 2240;

/** The most tokens that an image counts; null where it depends on a size that is not known. */
export function imageTokens({ size }: ImageInput, model: string): number | null {
  if (generationOf(model) === "levels") return TOKENS_FIXED;
  if (size === null) return null;
  const shorter = Math.min(size.width, size.height);
  const longer = Math.max(size.width, size.height);
  if (longer <= SMALL_EDGE) return TOKENS_PER_TILE;
  const tiles = Math.ceil(TILES_ALONG_SHORT) * Math.ceil(longer * TILES_ALONG_SHORT / shorter + 1);
  return TOKENS_PER_TILE * tiles;
}
