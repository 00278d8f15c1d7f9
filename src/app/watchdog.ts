import type { LogOptions } from "../platform/telemetry/log.ts";
import { newPulseMemory, Pulse } from "./pulse.ts";

export interface WatchdogOptions extends Pick<LogOptions, "level" | "format"> {
  /** How long the main thread may be blocked. */
  blockedMs: number;
  /** How often it is looked at. */
  lookMs?: number;
}

/** What the watching thread is told. */
export interface WatchdogOrder extends Required<WatchdogOptions> {
  memory: SharedArrayBuffer;
}

/** Ends the process by SIGABRT, as a supervisor's own watchdog would; a shell sees 134. */
export function endBlocked(): void {
  try {
    Deno.kill(Deno.pid, "SIGABRT");
  } catch {
    // Windows knows one way to end a process.
    Deno.kill(Deno.pid, "SIGKILL");
  }
}

/**
 * Starts a thread that ends the process when the main thread is blocked: nothing is served then, health
 * checks included, and only a restart helps. Holds and tasks survive that. The supervisor restarts it.
 */
export function startWatchdog({ lookMs = 1_000, ...options }: WatchdogOptions): Pulse & Disposable {
  const memory = newPulseMemory();
  const pulse = new Pulse(memory, lookMs / 4);
  const thread = new Worker(new URL("./watchdog_thread.ts", import.meta.url), {
    type: "module",
    name: "watchdog",
  });
  thread.postMessage({ ...options, lookMs, memory } satisfies WatchdogOrder);
  const stop = pulse[Symbol.dispose].bind(pulse);
  pulse[Symbol.dispose] = () => {
    thread.terminate();
    stop();
  };
  return pulse;
}
