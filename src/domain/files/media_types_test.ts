import assert from "node:assert/strict";
import { mediaSamples } from "../../../test/helpers/media_samples.ts";
import { MEDIA_TYPE_NAMES, mediaType } from "./media_types.ts";
import { sniffName } from "./sniff_name.ts";

Deno.test("every accepted type is told by its bytes", async () => {
  const samples = await mediaSamples();
  for (const [mimeType, bytes] of samples) {
    assert.equal(mediaType(await sniffName(bytes))?.mimeType, mimeType);
  }
  const sampled = new Set(samples.map(([mimeType]) => mimeType));
  assert.deepEqual(MEDIA_TYPE_NAMES.filter((name) => !sampled.has(name)), []);
});
