import type { Log, LogFields, LogLevel } from "../../src/platform/telemetry/log.ts";

/** A log that calls `write` for every line but those of requests. */
export function recordLog(
  write: (level: LogLevel, message: string, fields?: LogFields) => void,
): Log {
  return {
    request() {},
    debug: (message, fields) => write("debug", message, fields),
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
    hide() {},
    flush() {},
  };
}

export const noLog: Log = recordLog(() => {});
