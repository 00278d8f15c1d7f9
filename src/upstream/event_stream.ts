import type { ServerSentEvent } from "./adapter.ts";

/** Larger than any event worth relaying; a provider that sends more without an end is broken. */
const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024;

const BYTE_ORDER_MARK = 0xfeff;

/**
 * Splits `text/event-stream` into events, wherever chunks end: characters and line ends may be
 * split between chunks, lines end with \n, \r\n or \r, data may have several lines.
 */
export class EventSplitter {
  // Otherwise it would drop a byte order mark at the beginning of any chunk, not only of the first.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #hasBegun = false;
  #rest = "";
  /** Whether #rest ends with what may be half a line end. */
  #isCut = false;
  #event: string | null = null;
  #data: string | null = null;

  /** The events that are complete with this chunk. */
  push(chunk: Uint8Array): ServerSentEvent[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (this.#hasBegun) return this.#split(text);
    this.#hasBegun = text !== "";
    return this.#split(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  }

  /** Splits text into lines and events. An incomplete event at the end of the stream is never returned. */
  #split(text: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    // Joined only when a line ends: each join copies the whole line, which may arrive in many pieces.
    if (!this.#isCut && !text.includes("\n") && !text.includes("\r")) {
      this.#rest += text;
      this.#checkLength();
      return events;
    }
    let whole = this.#rest === "" ? text : this.#rest + text;
    // A \r at the end may be half a line end: wait for what follows.
    let end = whole.length;
    if (whole.charCodeAt(end - 1) === 13) end--;
    let from = 0;
    // Searched again only after the last match was passed: mostly one kind does not occur, and each line would
    // search the whole text for it.
    let [feed, back] = [-1, -1];
    while (from < end) {
      if (feed < from) feed = find(whole, "\n", from);
      if (back < from) back = find(whole, "\r", from);
      const to = Math.min(feed, back);
      if (to >= end) break;
      this.#line(whole, from, to, events);
      from = whole.charCodeAt(to) === 13 && whole.charCodeAt(to + 1) === 10 ? to + 2 : to + 1;
    }
    whole = from === 0 ? whole : whole.slice(from);
    this.#rest = whole;
    this.#isCut = end < whole.length + from;
    this.#checkLength();
    return events;
  }

  #checkLength(): void {
    if (this.#rest.length + (this.#data?.length ?? 0) > EVENT_CHARACTERS_MAX) {
      throw new RangeError("an event of the stream does not end");
    }
  }

  #line(text: string, from: number, to: number, events: ServerSentEvent[]): void {
    if (from === to) {
      if (this.#data !== null) events.push({ event: this.#event, data: this.#data });
      this.#event = null;
      this.#data = null;
    } else if (text.startsWith("data:", from)) {
      const value = text.slice(text.charCodeAt(from + 5) === 32 ? from + 6 : from + 5, to);
      this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    } else if (text.startsWith("event:", from)) {
      this.#event = text.slice(text.charCodeAt(from + 6) === 32 ? from + 7 : from + 6, to);
    }
    // Comments, ids and retry times are ignored.
  }
}

function find(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at === -1 ? Infinity : at;
}
