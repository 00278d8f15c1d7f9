import type { ImageInput } from "../../src/upstream/adapter.ts";

/** The tokens of an image are its patches, after it was scaled down to the maximum. */
const PATCH_EDGE = 28;
const TOKENS_MAX = 1600;
/** Models from Opus 4.7 on accept larger images. */
const TOKENS_MAX_LARGE = 4800;
const SMALL = /^claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[0156])?(?:-\d{8}|$))/;
/** The older rule divides the area by 750 instead of 784. */
const MARGIN = 1.05;

/** The maximum tokens of an image. */
export function imageTokens({ size }: ImageInput, model: string): number {
  const most = SMALL.test(model) ? TOKENS_MAX : TOKENS_MAX_LARGE;
  if (size === null) return most;
  const patches = Math.ceil(size.width / PATCH_EDGE) * Math.ceil(size.height / PATCH_EDGE);
  return Math.min(most, Math.ceil(patches * MARGIN));
}
