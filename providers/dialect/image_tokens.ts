import type { ImageInput } from "../../src/upstream/adapter.ts";

/** How a provider counts the images of some of its models. */
export interface ImageTokensRule {
  /** Names of models; a name that ends in `*` matches all models with that prefix. */
  readonly models: readonly string[];
  readonly base?: number;
  readonly tile?: number;
  readonly patch?: number;
  readonly max?: number;
}

/** An image is scaled to fit into this square, then until its shorter side has this length. */
const TILED_EDGE_MAX = 2048;
const TILED_SHORT_EDGE = 768;
const TILE_EDGE = 512;
/** The maximum number of tiles of a scaled image. */
const TILES_MAX = 8;
const PATCH_EDGE = 32;
const PATCHES_MAX = 1536;

export type ImageCounter = (image: ImageInput, model: string) => number | null;

/** Counts by the first rule that matches the model; null without one. */
export function imageCounter(rules: readonly ImageTokensRule[] = []): ImageCounter {
  return function countImage(image, model) {
    const rule = rules.find(({ models }) => models.some((name) => fits(name, model)));
    return rule === undefined ? null : tokensOf(rule, image);
  };
}

function fits(name: string, model: string): boolean {
  return name.endsWith("*") ? model.startsWith(name.slice(0, -1)) : name === model;
}

function tokensOf({ base = 0, tile, patch, max }: ImageTokensRule, image: ImageInput): number {
  let tokens = base;
  if (tile !== undefined && image.detail !== "low") tokens += tile * tilesOf(image);
  if (patch !== undefined) tokens += Math.ceil(patch * patchesOf(image));
  return max ?? tokens;
}

function tilesOf({ size }: ImageInput): number {
  if (size === null) return TILES_MAX;
  const fitted = Math.min(1, TILED_EDGE_MAX / Math.max(size.width, size.height));
  const shorter = Math.min(size.width, size.height) * fitted;
  const scale = fitted * Math.min(1, TILED_SHORT_EDGE / shorter);
  return tilesAlong(size.width * scale) * tilesAlong(size.height * scale);
}

/** One pixel more than computed: providers round differently when they scale. */
function tilesAlong(pixels: number): number {
  return Math.max(1, Math.ceil((pixels + 1) / TILE_EDGE));
}

function patchesOf({ size }: ImageInput): number {
  if (size === null) return PATCHES_MAX;
  const patches = Math.ceil(size.width / PATCH_EDGE) * Math.ceil(size.height / PATCH_EDGE);
  return Math.min(PATCHES_MAX, patches);
}
