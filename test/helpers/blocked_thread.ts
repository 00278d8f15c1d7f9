/** A process with two worker threads, one of which is blocked. */
import { WorkerPool } from "../../src/app/worker_pool.ts";
import { abortProcess } from "../../src/app/watchdog.ts";
import { recordLog } from "./logs.ts";

const pool = await WorkerPool.start({
  size: 2,
  spawn: (name) =>
    new Worker(new URL("./toy_thread.ts", import.meta.url), { type: "module", name }),
  log: recordLog((_level, message, fields) => console.log(JSON.stringify({ message, ...fields }))),
  keepCounters: () => Promise.resolve(null),
  blockedMs: 1_500,
  checkMs: 100,
});
fetch(`http://127.0.0.1:${pool.banner}/block`).catch(() => {});
console.log("ended", await pool.blocked);
await pool[Symbol.asyncDispose]();
abortProcess();
