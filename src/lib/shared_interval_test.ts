import assert from "node:assert/strict";
import { sharedInterval } from "./shared_interval.ts";

Deno.test("calls of one interval share a timer, each until it is stopped", {
  sanitizeOps: true,
  sanitizeResources: true,
}, async () => {
  let [first, second] = [0, 0];
  const twice = Promise.withResolvers<void>();
  const stopFirst = sharedInterval(5, () => {
    first++;
    stopFirst();
  });
  const stopSecond = sharedInterval(5, () => {
    if (++second === 2) twice.resolve();
  });
  await twice.promise;
  stopSecond();
  stopSecond();
  assert.equal(first, 1);

  // All had stopped: the next call starts a new timer.
  const again = Promise.withResolvers<void>();
  const stop = sharedInterval(5, again.resolve);
  await again.promise;
  stop();
});
