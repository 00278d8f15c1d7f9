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

/**
 * The lines above level debug, without the fields in which an operator names upstreams: the operator's own names of
 * a provider and its models may be logged, nothing else of it.
 */
export function linesAboveDebug(logged: string): string[] {
  return logged.trim().split("\n").map((line) => JSON.parse(line))
    .filter(({ level }) => level !== "debug")
    .map(({ provider: _provider, model: _model, attempts: _attempts, ...line }) =>
      JSON.stringify(line)
    );
}
