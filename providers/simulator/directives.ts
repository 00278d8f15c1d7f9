import { WireError } from "./wire_error.ts";

/**
 * How the simulator behaves, from the header `x-simulate` and from `[[simulate: …]]` anywhere in the last
 * user message or in a prompt, which wins: names and values such as `pace=20ms, cut=5`, separated by
 * commas, semicolons or spaces. "After k events" counts every event that carries data.
 */
export interface Directives {
  /** `pace=20ms`: a pause before each token. A whole answer takes as long as its tokens would. */
  readonly pace?: number;
  /** `tokens=100`: the text has exactly 100 tokens. */
  readonly tokens?: number;
  /** `cached=512`: the usage reports 512 cached prompt tokens. */
  readonly cached?: number;
  /** `batch=10`: 10 events leave in one chunk of bytes; `batch` alone: all of them. */
  readonly batch?: number;
  /** `directives=off`, in the header: directives in messages and prompts are ignored. */
  readonly directives?: boolean;

  /** `latency=2s`: a pause before the response starts. */
  readonly latency?: number;
  /** `status=429`: responds with that error. */
  readonly status?: number;
  /** `retry_after=3`: the value of the response header `retry-after`, in seconds; 1 for a 429 by default. */
  readonly retry_after?: string;
  /** `refuse`: the connection is refused. */
  readonly refuse?: true;
  /** `accept_and_close`: does the work and closes the connection without a response. */
  readonly accept_and_close?: true;
  /** `accept_and_answer=503`: does the work and responds with that error. */
  readonly accept_and_answer?: number;
  /** `accept_after=2s`: a job is accepted after 2 s, even if its sender has gone by then. */
  readonly accept_after?: number;
  /** `hang`: never responds; `hang=k`: sends nothing more after k events. */
  readonly hang?: number;
  /** `cut=k`: the connection breaks after k events. */
  readonly cut?: number;
  /** `truncate=k`: the response ends after k events without an error. */
  readonly truncate?: number;
  /** `garbage=k`: an event that cannot be parsed after k events; the others follow. */
  readonly garbage?: number;
  /** `error=k`: after k events, an event that reports an error ends the response. */
  readonly error?: number;
  /** `endless`: the response never ends. */
  readonly endless?: true;
  /** `no_usage`: no usage is reported. */
  readonly no_usage?: true;
  /** `huge=1000000`: one token of the first choice has a million bytes. */
  readonly huge?: number;
  /** `content_type=text/plain`: instead of the correct content type. */
  readonly content_type?: string;
  /** `html`: an HTML page instead of a response, with `status` or 200. */
  readonly html?: true;
  /** `crlf`: lines end in \r\n. */
  readonly crlf?: true;
  /** `multiline`: the data of each event takes several lines. */
  readonly multiline?: true;
  /** `comments`: a comment before each event. */
  readonly comments?: true;
  /** `split=1`: chunks of one byte, even inside a character or a line. */
  readonly split?: number;

  /** `seconds=3`: how long an image or a video takes to make. */
  readonly seconds?: number;
  /** `fail_at=60`: the job fails at 60 %. */
  readonly fail_at?: number;
  /** `stuck=90`: the job stays at 90 % for ever. */
  readonly stuck?: number;
  /** `state=resting`: the status of an unfinished job. */
  readonly state?: string;
  /** `backwards`: the progress falls from 99. */
  readonly backwards?: true;
  /** `no_progress`: a job reports no progress. */
  readonly no_progress?: true;
  /** `poll_status=500`: polling the job fails with that error; only the first k times with `poll_fails=k`. */
  readonly poll_status?: number;
  readonly poll_fails?: number;
  /** `outputs=2`: the job has 2 outputs, however many were requested. */
  readonly outputs?: number;
  /** `duplicate`: every output is listed twice. */
  readonly duplicate?: true;
  /** `output=garbage`: what is wrong with the outputs. */
  readonly output?: OutputFault;
  /** `cancel=refused`: what happens when the job is cancelled. */
  readonly cancel?: CancelAnswer;
  /** `overstate`: the reported usage is twice the real one. */
  readonly overstate?: true;

  /** `fail=2, name=x`: faults apply to the first 2 requests of that name only; status 500 by default. */
  readonly fail?: number;
  readonly name?: string;
}

const OUTPUT_FAULTS = [
  "garbage", // bytes of no file format
  "empty",
  "wrong_type", // an HTML page with the MIME type of the output
  "too_large", // never ends
  "cut", // the connection breaks
  "hang", // nothing follows after the first half
  "slow", // eight chunks, 100 ms apart; the file is correct
  "missing", // 404
  "redirect", // to a private address
  "private", // its URL is a private address
  "inline", // in the response itself; the file is correct
] as const;
export type OutputFault = typeof OUTPUT_FAULTS[number];

const CANCEL_ANSWERS = [
  "refused", // 409, and the job goes on
  "ignored", // 200, and the job goes on
  "late", // 200, and the job is cancelled a second later
  "billed", // the job is cancelled, and usage is reported
] as const;
export type CancelAnswer = typeof CANCEL_ANSWERS[number];

const DURATION_MS_MAX = 600_000;
const EVENTS_DEFAULT = 3;

type Reader = (text: string | undefined, name: string) => unknown;

const READERS: { readonly [name in keyof Required<Directives>]: Reader } = {
  pace: duration,
  tokens: count(1, 100_000),
  cached: count(0, 1_000_000),
  batch: count(1, 1_000_000, 1_000_000),
  directives: oneOf({ on: true, off: false }),
  latency: duration,
  status: count(400, 599),
  retry_after: word,
  refuse: flag,
  accept_and_close: flag,
  accept_and_answer: count(400, 599, 500),
  accept_after: duration,
  // -1: not even the headers are sent.
  hang: count(0, 1_000_000, -1),
  cut: count(0, 1_000_000, EVENTS_DEFAULT),
  truncate: count(0, 1_000_000, EVENTS_DEFAULT),
  garbage: count(0, 1_000_000, EVENTS_DEFAULT),
  error: count(0, 1_000_000, EVENTS_DEFAULT),
  endless: flag,
  no_usage: flag,
  huge: count(1, 4_000_000, 1_000_000),
  content_type: word,
  html: flag,
  crlf: flag,
  multiline: flag,
  comments: flag,
  split: count(1, 1_000_000, 1),
  seconds,
  fail_at: count(0, 100, 60),
  stuck: count(0, 99, 90),
  state: word,
  backwards: flag,
  no_progress: flag,
  poll_status: count(400, 599, 500),
  poll_fails: count(1, 1_000, 1),
  outputs: count(0, 20),
  duplicate: flag,
  output: oneOf(named(OUTPUT_FAULTS)),
  cancel: oneOf(named(CANCEL_ANSWERS)),
  overstate: flag,
  fail: count(0, 1_000_000, 1),
  name: word,
};

const DIRECTIVES = /\[\[simulate:([^[\]]*)\]\]/g;

/** Parses directives as the header has them. An unknown name is an error. */
export function parseDirectives(text: string): Directives {
  const directives: Record<string, unknown> = {};
  for (const item of text.split(/[\s,;]+/)) {
    if (item === "") continue;
    const [name, value] = splitAt(item, "=");
    if (!Object.hasOwn(READERS, name)) throw invalid(`"${name}" is not one of its directives`);
    directives[name] = READERS[name as keyof Directives](value, name);
  }
  return directives;
}

/** Parts a message into its directives and the rest, unless the configuration says `directives=off`. */
export function takeDirectives(
  text: string,
  configured: Directives = {},
): { directives: Directives; rest: string } {
  if (configured.directives === false || !text.includes("[[simulate:")) {
    return { directives: {}, rest: text };
  }
  const written = [...text.matchAll(DIRECTIVES)].map(([, directives]) => directives);
  return {
    directives: parseDirectives(written.join(",")),
    rest: text.replaceAll(DIRECTIVES, "").replaceAll(/ {2,}/g, " ").trim(),
  };
}

/** Directives that are no fault: `fail` does not limit them. */
const BEHAVIOUR = ["pace", "tokens", "cached", "batch", "seconds"] as const;
const NO_FAULTS: ReadonlySet<string> = new Set([...BEHAVIOUR, "directives", "fail", "name"]);

function withoutFaults(directives: Directives): Directives {
  return Object.fromEntries(BEHAVIOUR.map((name) => [name, directives[name]]));
}

/** Counts requests by the directive `name`, for `fail=k`: faults apply to the first k requests only. */
export class FailLimit {
  readonly #counts = new Map<string, number>();

  apply(directives: Directives): Directives {
    if (directives.fail === undefined) return directives;
    const name = directives.name ?? "";
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    if (count > directives.fail) return { ...withoutFaults(directives), fail: directives.fail };
    const hasFaults = Object.keys(directives).some((one) => !NO_FAULTS.has(one));
    return hasFaults ? directives : { ...directives, status: 500 };
  }
}

function splitAt(item: string, mark: string): [string, string | undefined] {
  const at = item.indexOf(mark);
  return at < 0 ? [item, undefined] : [item.slice(0, at), item.slice(at + 1)];
}

function duration(text: string | undefined, name: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text ?? "") ?? [];
  const ms = Number(digits) * (unit === "s" ? 1000 : 1);
  if (!(ms <= DURATION_MS_MAX)) {
    throw invalid(`"${name}" needs a time of at most 10 minutes, such as ${name}=20ms`);
  }
  return ms;
}

function seconds(text: string | undefined, name: string): number {
  const value = /^\d+(?:\.\d+)?$/.test(text ?? "") ? Number(text) : NaN;
  if (value * 1000 <= DURATION_MS_MAX) return value;
  throw invalid(`"${name}" needs a number of at most ${DURATION_MS_MAX / 1000}`);
}

function named<T extends string>(names: readonly T[]): Readonly<Record<T, T>> {
  return Object.fromEntries(names.map((name) => [name, name])) as Record<T, T>;
}

function count(min: number, max: number, byDefault?: number): Reader {
  return (text, name) => {
    if (text === undefined && byDefault !== undefined) return byDefault;
    const value = /^\d+$/.test(text ?? "") ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw invalid(`"${name}" needs a whole number from ${min} to ${max}`);
  };
}

function oneOf(values: Readonly<Record<string, unknown>>): Reader {
  return (text, name) => {
    if (text !== undefined && Object.hasOwn(values, text)) return values[text];
    throw invalid(`"${name}" is ${Object.keys(values).join(" or ")}`);
  };
}

function flag(text: string | undefined, name: string): true {
  if (text !== undefined) throw invalid(`"${name}" stands alone`);
  return true;
}

function word(text: string | undefined, name: string): string {
  if (text === undefined || !/^[!-~]+$/.test(text)) throw invalid(`"${name}" needs a value`);
  return text;
}

function invalid(reason: string): WireError {
  return new WireError(400, `Cannot simulate: ${reason}.`, null, "invalid_simulation");
}
