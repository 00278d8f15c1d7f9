/** Watches the main thread from another one, and ends the process when it is blocked. See watchdog.ts. */
import { periodic, rethrow } from "../lib/timers.ts";
import { openLog } from "../platform/telemetry/log.ts";
import { HeartbeatReader } from "./heartbeat.ts";
import { abortProcess, type WatchdogStart } from "./watchdog.ts";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<WatchdogStart>) => void) | null;
};

scope.onmessage = ({ data: { memory, blockedMs, checkMs, level, format } }) => {
  const log = openLog({ level, format });
  const reader = new HeartbeatReader(memory);
  periodic(() => {
    const forMs = reader.missedChecks() * checkMs;
    if (forMs < blockedMs) return;
    // Another thread's stack cannot be read in Deno: the requests it began last are the trace there is.
    log.error("main thread blocked, process ends", {
      blocked_ms: forMs,
      last_requests: reader.lastRequests(),
    });
    log.flush();
    abortProcess();
  }, { intervalMs: checkMs, onError: rethrow, keepsProcessAlive: true });
};
