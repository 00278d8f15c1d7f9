import { Redactor } from "./scrub.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;

/** What is logged of every request. */
export interface RequestLine {
  request_id: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  account: string | undefined;
  key: string | undefined;
  client_request_id: string | undefined;
  code: string | undefined;
}

export interface Log {
  /** The one line of a request, at level info. */
  request(line: RequestLine): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** These values never appear in a line from now on. */
  hide(secrets: Iterable<string | undefined>): void;
  /** Writes what is waiting. Called at the end, so that the last lines are not lost. */
  flush(): void;
}

export interface LogOptions {
  level: LogLevel;
  /** `json` for machines, `text` for a person at a terminal. */
  format: "json" | "text";
  write?: (text: string) => void;
}

const ORDER: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 };
const FLUSH_MS = 50;
const FLUSH_CHARACTERS = 32_768;

/**
 * One JSON object per line. Lines gather for a moment, since a write per request would cost more than
 * the request; warnings and errors go out at once.
 */
export function openLog(options: LogOptions): Log {
  const least = ORDER[options.level];
  const write = options.write ?? writeToStderr;
  const render = options.format === "json" ? renderJson : renderText;
  const redactor = new Redactor();
  const redact = (text: string) => redactor.redact(text);
  let waiting = "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === "") return;
    const text = waiting;
    waiting = "";
    write(text);
  };
  const log = (level: LogLevel, message: string, fields?: LogFields) => {
    if (ORDER[level] >= least) put(level, redact(render(level, message, fields)));
  };
  const put = (level: LogLevel, line: string) => {
    waiting += line + "\n";
    if (ORDER[level] >= ORDER.warn || waiting.length > FLUSH_CHARACTERS) return flush();
    if (timer === undefined) {
      timer = setTimeout(flush, FLUSH_MS);
      Deno.unrefTimer(timer);
    }
  };
  return {
    request(line) {
      if (ORDER.info < least) return;
      put(
        "info",
        options.format === "json"
          ? renderRequest(line, redact)
          : redact(renderText("info", "request", { ...line, ms: hundredths(line.ms) })),
      );
    },
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
    hide: (secrets) => redactor.add(secrets),
    flush,
  };
}

const encoder = new TextEncoder();

function writeToStderr(text: string): void {
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length;) at += Deno.stderr.writeSync(bytes.subarray(at));
}

/** Written by hand, and scrubbed only where clients have a say: ten thousand lines a second add up. */
function renderRequest(line: RequestLine, redact: (text: string) => string): string {
  const path = JSON.stringify(redact(line.path));
  let text =
    `{"time":"${isoNow()}","level":"info","message":"request","request_id":"${line.request_id}",` +
    `"method":${JSON.stringify(line.method)},"path":${path},"status":${line.status},` +
    `"ms":${hundredths(line.ms)}`;
  if (line.account !== undefined) text += `,"account":"${line.account}","key":"${line.key}"`;
  if (line.client_request_id !== undefined) {
    text += `,"client_request_id":${JSON.stringify(redact(line.client_request_id))}`;
  }
  return line.code === undefined ? `${text}}` : `${text},"code":"${line.code}"}`;
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}

let second = -1;
let prefix = "";

/** `toISOString`, formatting a second only once. */
function isoNow(): string {
  const now = Date.now();
  const ms = now % 1000;
  if (now - ms !== second) {
    second = now - ms;
    prefix = new Date(second).toISOString().slice(0, 20);
  }
  return `${prefix}${ms < 10 ? "00" : ms < 100 ? "0" : ""}${ms}Z`;
}

function renderJson(level: LogLevel, message: string, fields: LogFields = {}): string {
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...plain(fields) });
}

function renderText(level: LogLevel, message: string, fields: LogFields = {}): string {
  const time = new Date().toISOString().slice(11, 23);
  const { report, ...rest } = plain(fields) as { report?: unknown };
  const pairs = Object.entries(rest)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  // A report (faults with their lines) is for reading, so it keeps its line breaks.
  const tail = typeof report === "string" ? `\n${report}` : "";
  return `${time} ${level.toUpperCase().padEnd(5)} ${message}${pairs.join("")}${tail}`;
}

function plain(fields: LogFields): LogFields {
  for (const value of Object.values(fields)) {
    if (value instanceof Error) {
      return Object.fromEntries(
        Object.entries(fields).map((
          [key, field],
        ) => [key, field instanceof Error ? describeError(field) : field]),
      );
    }
  }
  return fields;
}

/** An error with its causes and its stack, as one text. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: unknown }).code;
  const head = error.stack ?? `${error.name}: ${error.message}`;
  const cause = error.cause === undefined ? "" : `\ncaused by ${describeError(error.cause)}`;
  return `${head}${code === undefined ? "" : ` [${code}]`}${cause}`;
}
