import assert from "node:assert/strict";
import { fakeTime } from "../../../test/helpers/fake_time.ts";
import { ConnectionError } from "./storage_error.ts";
import { retryFor } from "./retry_for.ts";

const away = () => new ConnectionError("CONNECTION_CLOSED", "away");

/** The times, from the start, at which a step is tried that fails in this way. */
async function triesOf(ms: number, fail: (tries: number) => Error | null): Promise<number[]> {
  using time = fakeTime();
  const start = performance.now();
  const tries: number[] = [];
  const retried = retryFor(ms, away(), () => {
    tries.push(performance.now() - start);
    const failure = fail(tries.length);
    return failure === null ? Promise.resolve("done") : Promise.reject(failure);
  }).catch((error) => error);
  await time.advance(ms + 1_000);
  await retried;
  return tries;
}

Deno.test("a step is retried after growing pauses, up to half a second, until the time is over", async () => {
  assert.deepEqual(await triesOf(2_000, away), [50, 150, 350, 750, 1_250, 1_750]);
  assert.deepEqual(await triesOf(50, away), [50], "a pause that ends in time is made");
  assert.deepEqual(await triesOf(49, away), []);
  assert.deepEqual(await triesOf(2_000, (tries) => tries < 3 ? away() : null), [50, 150, 350]);
});

Deno.test("an error that retrying cannot mend ends it, and is the one that is thrown", async () => {
  const wrong = new Error("there is no such hold");
  assert.deepEqual(await triesOf(2_000, (tries) => tries === 2 ? wrong : away()), [50, 150]);
  await assert.rejects(retryFor(1_000, wrong, () => Promise.resolve()), wrong);
});
