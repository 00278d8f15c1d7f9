import assert from "node:assert/strict";
import { targetNames } from "./corpus.ts";
import { fuzz } from "./runner.ts";

/** `deno task fuzz` runs longer. */
const SECONDS = 2;

for (const name of targetNames()) {
  Deno.test(`fuzz: ${name}`, async () => {
    const seed = Number(Deno.env.get("FUZZ_SEED") ?? Date.now() % 2 ** 32);
    const { runs, failure } = await fuzz(name, { seed, seconds: SECONDS });
    console.log(`${name}: ${runs} inputs, seed ${seed}`);
    assert.equal(
      failure,
      null,
      `${failure?.reason}\nseed ${seed}; replay: deno task fuzz ${name} --input ${failure?.file}`,
    );
  });
}
