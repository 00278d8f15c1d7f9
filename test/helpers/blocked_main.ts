/** A process whose main thread is watched; `block` as argument: it then never comes back. */
import { startWatchdog } from "../../src/app/watchdog.ts";

const watchdog = startWatchdog({ blockedMs: 1_500, checkMs: 100, level: "info", format: "json" });
watchdog.begin("req_before", "GET", "/healthz");
watchdog.begin("req_blocking", "POST", "/v1/chat/completions");
console.log("watched");
// Long enough for the watching thread to be there, and for a test that only looks on.
setTimeout(() => {
  if (Deno.args[0] === "block") { while (true); }
}, 1_000);
setTimeout(() => Deno.exit(0), 8_000);
