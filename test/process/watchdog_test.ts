import assert from "node:assert/strict";
import { startProcess } from "../helpers/gateway_process.ts";
import { sleep } from "../../src/lib/timers.ts";

/** What `npm start` may do, so that the watchdog is seen to need no more. */
const MAY = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
  "--allow-sys",
  "--allow-run",
];
const script = (name: string, ...args: string[]) =>
  startProcess({}, ["run", "--no-check", ...MAY, `test/helpers/${name}`, ...args]);

Deno.test("a process whose main thread is blocked logs its last requests and ends by SIGABRT", async () => {
  await using process = script("blocked_main.ts", "block");
  await process.says(/watched/);
  const { signal, code } = await process.ended;
  assert.equal(signal, "SIGABRT", process.stderr());
  assert.equal(code, 134);
  const line = JSON.parse(
    process.stderr().split("\n").find((text) => text.includes("main thread blocked"))!,
  );
  assert.ok(line.blocked_ms >= 1_500);
  assert.deepEqual(line.last_requests, [
    "req_blocking POST /v1/chat/completions",
    "req_before GET /healthz",
  ]);
});

Deno.test("a process that was stopped for longer than that goes on, and one that works is left alone", async () => {
  await using process = script("blocked_main.ts");
  await process.says(/watched/);
  await sleep(1_000);
  process.signal("SIGSTOP");
  await sleep(3_000);
  process.signal("SIGCONT");
  const { code } = await process.ended;
  assert.equal(code, 0, process.stderr());
  assert.ok(!process.stderr().includes("blocked"), process.stderr());
});

Deno.test("a blocked worker thread is named, the others finish, and the process ends by SIGABRT", async () => {
  await using process = script("blocked_thread.ts");
  const { signal } = await process.ended;
  await process.says(/ended gateway [12]/);
  assert.equal(signal, "SIGABRT", process.stderr());
  assert.match(
    process.stdout(),
    /"thread blocked, process ends","thread":"gateway [12]","blocked_ms":\d+,"last_requests":\["req_toy GET \/block"\]/,
  );
});
