/** Watches the main thread from outside it, and ends the process when it is blocked. See watchdog.ts. */
import { PulseReader } from "./pulse.ts";
import { openLog } from "../platform/telemetry/log.ts";
import { endBlocked, type WatchdogOrder } from "./watchdog.ts";
import { periodic, rethrow } from "../lib/timers.ts";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<WatchdogOrder>) => void) | null;
};

scope.onmessage = ({ data: { memory, blockedMs, lookMs, level, format } }) => {
  const log = openLog({ level, format });
  const reader = new PulseReader(memory);
  periodic(() => {
    const forMs = reader.look() * lookMs;
    if (forMs < blockedMs) return;
    // Another thread's stack cannot be read in Deno: the requests it began last are the trace there is.
    log.error("main thread blocked, process ends", {
      blocked_ms: forMs,
      last_requests: reader.lastRequests(),
    });
    log.flush();
    endBlocked();
  }, { intervalMs: lookMs, onError: rethrow, keepsProcessAlive: true });
};
