import assert from "node:assert/strict";
import { logUnhandledRejections } from "./log_unhandled_rejections.ts";
import { sleep } from "../lib/timers.ts";

Deno.test("an unhandled rejection is logged, and the process goes on", async () => {
  const said: [message: string, fields?: Record<string, unknown>][] = [];
  using _ = logUnhandledRejections({
    error: (message, fields) => void said.push([message, fields]),
  });
  const reason = new Error("lost");
  void Promise.reject(reason);
  await sleep(10);
  assert.deepEqual(said, [["unhandled rejection, please report this", { error: reason }]]);
});
