import assert from "node:assert/strict";
import { logUnhandledRejections } from "./log_unhandled_rejections.ts";
import { sleep } from "../lib/timers.ts";

Deno.test("a rejection that nobody handles is told, and the process goes on", async () => {
  const said: [message: string, fields?: Record<string, unknown>][] = [];
  using _ = logUnhandledRejections({
    error: (message, fields) => void said.push([message, fields]),
  });
  const reason = new Error("lost");
  void Promise.reject(reason);
  await sleep(10);
  assert.deepEqual(said, [["a rejection was not handled: please report this", { error: reason }]]);
});
