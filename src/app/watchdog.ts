import type { LogOptions } from "../platform/telemetry/log.ts";
import { Heartbeat, newHeartbeatMemory } from "./heartbeat.ts";

export interface WatchdogOptions extends Pick<LogOptions, "level" | "format"> {
  /** How long the main thread may be blocked. */
  blockedMs: number;
  /** How often it is checked. */
  checkMs?: number;
}

/** The message that starts the watching thread. */
export interface WatchdogStart extends Required<WatchdogOptions> {
  memory: SharedArrayBuffer;
}

/** Ends the process by SIGABRT, as a supervisor's own watchdog would; a shell sees 134. */
export function abortProcess(): void {
  if (Deno.build.os === "windows") Deno.kill(Deno.pid, "SIGKILL"); // the one signal there is
  else Deno.kill(Deno.pid, "SIGABRT");
}

/**
 * Starts a thread that ends the process when the main thread is blocked: nothing is served then, health
 * checks included, and only a restart helps. Holds and tasks survive that. The supervisor restarts it.
 */
export function startWatchdog(
  { checkMs = 1_000, ...options }: WatchdogOptions,
): Pick<Heartbeat, "begin"> & Disposable {
  const memory = newHeartbeatMemory();
  const heartbeat = new Heartbeat(memory, checkMs / 4);
  const thread = new Worker(new URL("./watchdog_thread.ts", import.meta.url), {
    type: "module",
    name: "watchdog",
  });
  thread.postMessage({ ...options, checkMs, memory } satisfies WatchdogStart);
  return {
    begin: heartbeat.begin,
    [Symbol.dispose]() {
      thread.terminate();
      heartbeat[Symbol.dispose]();
    },
  };
}
