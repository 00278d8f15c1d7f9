import assert from "node:assert/strict";
import { sharedInterval } from "./shared_interval.ts";

Deno.test("calls of one pace come together, and each until it has enough", {
  sanitizeOps: true,
  sanitizeResources: true,
}, async () => {
  let [first, second] = [0, 0];
  const twice = Promise.withResolvers<void>();
  const leaveFirst = sharedInterval(5, () => {
    first++;
    leaveFirst();
  });
  const leaveSecond = sharedInterval(5, () => {
    if (++second === 2) twice.resolve();
  });
  await twice.promise;
  leaveSecond();
  leaveSecond();
  assert.equal(first, 1);

  // Everybody had left: whoever comes now begins anew.
  const again = Promise.withResolvers<void>();
  const leave = sharedInterval(5, again.resolve);
  await again.promise;
  leave();
});
