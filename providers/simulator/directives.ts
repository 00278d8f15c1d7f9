import { WireError } from "./wire_error.ts";

/**
 * How the simulator was told to behave, in the header `x-simulate` and in `[[simulate: …]]` anywhere in
 * the last user message or in a prompt, which wins: names and values such as `pace=20ms, cut=5`, parted by commas,
 * semicolons or spaces. "After k events" counts every event that carries data, the first one included.
 */
export interface Orders {
  /** `pace=20ms`: a pause before each token. A whole answer takes as long as its tokens would. */
  readonly pace?: number;
  /** `tokens=100`: exactly so many tokens of prose. */
  readonly tokens?: number;
  /** `cached=512`: so many prompt tokens are said to come from the cache. */
  readonly cached?: number;
  /** `batch=10`: so many events leave in one chunk of bytes; `batch` alone: all of them. */
  readonly batch?: number;
  /** `directives=off`, in the header: what users write in their messages is not obeyed. */
  readonly directives?: boolean;

  /** `latency=2s`: before anything is answered. */
  readonly latency?: number;
  /** `status=429`: that error, and nothing else. */
  readonly status?: number;
  /** `retry_after=3`: seconds, as the header of that name says; 429 has 1 unless told. */
  readonly retry_after?: string;
  /** `refuse`: no answer at all, the connection fails. */
  readonly refuse?: true;
  /** `accept_and_close`: does the work and closes the connection without an answer. */
  readonly accept_and_close?: true;
  /** `accept_and_answer=503`: does the work and answers that error. */
  readonly accept_and_answer?: number;
  /** `accept_after=2s`: a job is accepted so late, whether or not its sender still waits. */
  readonly accept_after?: number;
  /** `hang`: never answers; `hang=k`: silent after k events. */
  readonly hang?: number;
  /** `cut=k`: the connection breaks after k events. */
  readonly cut?: number;
  /** `truncate=k`: ends after k events as if all were well. */
  readonly truncate?: number;
  /** `garbage=k`: something unreadable after k events, then on as usual. */
  readonly garbage?: number;
  /** `error=k`: an event that reports an error after k events, and the end. */
  readonly error?: number;
  /** `endless`: goes on and on. */
  readonly endless?: true;
  /** `no_usage`: never says what was used. */
  readonly no_usage?: true;
  /** `huge=1000000`: one token of so many bytes, in the first choice. */
  readonly huge?: number;
  /** `content_type=text/plain`: instead of the right one. */
  readonly content_type?: string;
  /** `html`: a page instead of an answer, with `status` or 200. */
  readonly html?: true;
  /** `crlf`: lines end in \r\n. */
  readonly crlf?: true;
  /** `multiline`: each event's data is spread over several lines. */
  readonly multiline?: true;
  /** `comments`: a comment before each event. */
  readonly comments?: true;
  /** `split=1`: bytes arrive in chunks of that size, wherever that cuts a character or a line. */
  readonly split?: number;

  /** `seconds=3`: how long a picture or a clip takes to make. */
  readonly seconds?: number;
  /** `fail_at=60`: the job fails at that many percent. */
  readonly fail_at?: number;
  /** `stuck=90`: the job stays at that many percent for ever. */
  readonly stuck?: number;
  /** `state=resting`: that word instead of what unfinished jobs say. */
  readonly state?: string;
  /** `backwards`: progress goes from 99 down. */
  readonly backwards?: true;
  /** `no_progress`: a job never says how far it is. */
  readonly no_progress?: true;
  /** `poll_status=500`: whoever looks at the job gets that error; the first `poll_fails` times only, if told. */
  readonly poll_status?: number;
  readonly poll_fails?: number;
  /** `outputs=2`: so many come, however many were asked for. */
  readonly outputs?: number;
  /** `duplicate`: every output is named twice. */
  readonly duplicate?: true;
  /** `output=garbage`: what is wrong with the outputs. */
  readonly output?: OutputFault;
  /** `cancel=refused`: what becomes of a wish to cancel. */
  readonly cancel?: CancelAnswer;
  /** `overstate`: says that it made twice as much. */
  readonly overstate?: true;

  /** `fail=2, name=x`: only the first 2 requests of that name misbehave, with 500 unless told otherwise. */
  readonly fail?: number;
  readonly name?: string;
}

const OUTPUT_FAULTS = [
  "garbage", // bytes that are no file
  "empty",
  "wrong_type", // a page that calls itself what was asked for
  "too_large", // never ends
  "cut", // breaks off
  "hang", // half of it, and silence
  "slow", // comes in eight pieces, 100 ms apart, which is not wrong
  "missing", // 404
  "redirect", // to a private address
  "private", // is said to lie at one
  "inline", // stands in the answer itself, which is not wrong
] as const;
export type OutputFault = typeof OUTPUT_FAULTS[number];

const CANCEL_ANSWERS = [
  "refused", // 409, and the job goes on
  "ignored", // agreed to, and the job goes on
  "late", // agreed to, and true a second later
  "billed", // done, but paid for all the same
] as const;
export type CancelAnswer = typeof CANCEL_ANSWERS[number];

const DURATION_MS_MAX = 600_000;
const EVENTS_USUAL = 3;

type Reader = (text: string | undefined, name: string) => unknown;

const READERS: { readonly [name in keyof Required<Orders>]: Reader } = {
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
  // Before the first event there is the answer itself: -1 stands for not even that.
  hang: count(0, 1_000_000, -1),
  cut: count(0, 1_000_000, EVENTS_USUAL),
  truncate: count(0, 1_000_000, EVENTS_USUAL),
  garbage: count(0, 1_000_000, EVENTS_USUAL),
  error: count(0, 1_000_000, EVENTS_USUAL),
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

const DIRECTIVE = /\[\[simulate:([^[\]]*)\]\]/g;

/** Reads orders as the header has them; a word that means nothing is an error, not a silence. */
export function parseOrders(text: string): Orders {
  const orders: Record<string, unknown> = {};
  for (const item of text.split(/[\s,;]+/)) {
    if (item === "") continue;
    const [name, value] = partedAt(item, "=");
    if (!Object.hasOwn(READERS, name)) throw misunderstood(`"${name}" is not one of its orders`);
    orders[name] = READERS[name as keyof Orders](value, name);
  }
  return orders;
}

/** The orders in a message, and the message without them. */
export function takeDirectives(text: string): { orders: Orders; rest: string } {
  if (!text.includes("[[simulate:")) return { orders: {}, rest: text };
  const written = [...text.matchAll(DIRECTIVE)].map(([, orders]) => orders);
  return {
    orders: parseOrders(written.join(",")),
    rest: text.replaceAll(DIRECTIVE, "").replaceAll(/ {2,}/g, " ").trim(),
  };
}

/** What is left of the orders when those that do harm are lifted. */
export function peaceful({ pace, tokens, cached, batch, seconds }: Orders): Orders {
  return { pace, tokens, cached, batch, seconds };
}

/** Whether anything was ordered that `fail` could limit to the first requests. */
export function isHarmful(orders: Orders): boolean {
  const harmless = new Set([
    "pace",
    "tokens",
    "cached",
    "batch",
    "seconds",
    "directives",
    "fail",
    "name",
  ]);
  return Object.keys(orders).some((name) => !harmless.has(name));
}

function partedAt(item: string, mark: string): [string, string | undefined] {
  const at = item.indexOf(mark);
  return at < 0 ? [item, undefined] : [item.slice(0, at), item.slice(at + 1)];
}

function duration(text: string | undefined, name: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text ?? "") ?? [];
  const ms = Number(digits) * (unit === "s" ? 1000 : 1);
  if (!(ms <= DURATION_MS_MAX)) {
    throw misunderstood(`"${name}" needs a time of at most 10 minutes, such as ${name}=20ms`);
  }
  return ms;
}

function seconds(text: string | undefined, name: string): number {
  const value = /^\d+(?:\.\d+)?$/.test(text ?? "") ? Number(text) : NaN;
  if (value * 1000 <= DURATION_MS_MAX) return value;
  throw misunderstood(`"${name}" needs a number of at most ${DURATION_MS_MAX / 1000}`);
}

function named<T extends string>(names: readonly T[]): Readonly<Record<T, T>> {
  return Object.fromEntries(names.map((name) => [name, name])) as Record<T, T>;
}

function count(min: number, max: number, usual?: number): Reader {
  return (text, name) => {
    if (text === undefined && usual !== undefined) return usual;
    const value = /^\d+$/.test(text ?? "") ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw misunderstood(`"${name}" needs a whole number from ${min} to ${max}`);
  };
}

function oneOf(values: Readonly<Record<string, unknown>>): Reader {
  return (text, name) => {
    if (text !== undefined && Object.hasOwn(values, text)) return values[text];
    throw misunderstood(`"${name}" is ${Object.keys(values).join(" or ")}`);
  };
}

function flag(text: string | undefined, name: string): true {
  if (text !== undefined) throw misunderstood(`"${name}" stands alone`);
  return true;
}

function word(text: string | undefined, name: string): string {
  if (text === undefined || !/^[!-~]+$/.test(text)) throw misunderstood(`"${name}" needs a value`);
  return text;
}

function misunderstood(reason: string): WireError {
  return new WireError(400, `Cannot simulate: ${reason}.`, null, "invalid_simulation");
}
