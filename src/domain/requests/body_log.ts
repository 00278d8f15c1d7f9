import { timeOfId } from "../../lib/ids.ts";
import { withTimeout } from "../../lib/timers.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isRetryable } from "../../platform/database/storage_error.ts";
import { BodyNote, type BodyRules, type BodySink } from "./body_note.ts";
import type { BodySeal } from "./body_seal.ts";
import type { NotedBody } from "./noted_body.ts";
import type { OpenRequest } from "./open_request.ts";

/** Why bodies are lost: no memory for them, the database was away too long, or it refused them. */
export type BodyLoss = "full" | "away" | "refused";

export interface BodyLogLimits {
  /** Memory of all bodies, of requests under way and of those that wait. */
  bytesMax: number;
  /** Requests of one statement. */
  batchMax: number;
  /** How long the first one of a batch waits for others. */
  gatherMs: number;
  /** How long bodies wait for a database that is away. */
  awayMs: number;
  /** How long closing waits for the last ones. */
  closeMs: number;
}

const LIMITS: BodyLogLimits = {
  bytesMax: 32 * 1024 * 1024,
  batchMax: 64,
  gatherMs: 250,
  awayMs: 60_000,
  closeMs: 5_000,
};

export interface BodyLogOptions {
  sql: Queries;
  seal: BodySeal;
  onLoss(loss: { requests: number; reason: BodyLoss; error?: unknown }): void;
  limits?: Partial<BodyLogLimits>;
}

/** A body as clients see it. */
export interface LoggedBody {
  /** Null: it was sealed with a key that SECRETS_KEY does not have. */
  text: string | null;
  /** The size of the whole body. */
  bytes: number;
  /** The text is its beginning only. */
  truncated: boolean;
}

export interface LoggedBodies {
  request: LoggedBody | null;
  response: LoggedBody | null;
}

/**
 * Keeps bodies of requests, sealed, behind the responses: no request waits for it. The memory for bodies is bounded;
 * beyond it they are lost and counted, and requests are served all the same.
 */
export class BodyLog implements BodySink, AsyncDisposable {
  #waiting: BodyNote[] = [];
  #borrowed = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Since when statements fail, as `performance.now()`; null while they succeed. */
  #failingSince: number | null = null;
  readonly #limits: BodyLogLimits;

  constructor(private readonly options: BodyLogOptions) {
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** Notes the bodies of a request from now on. */
  open(request: OpenRequest, rules: BodyRules): BodyNote {
    return new BodyNote(this, request, rules);
  }

  borrow(bytes: number): boolean {
    if (this.#borrowed + bytes > this.#limits.bytesMax) return false;
    this.#borrowed += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#borrowed -= bytes;
  }

  add(note: BodyNote): void {
    this.#waiting.push(note);
    if (this.#waiting.length >= this.#limits.batchMax && this.#failingSince === null) {
      void this.flush();
    } else this.#schedule();
  }

  lose(): void {
    this.options.onLoss({ requests: 1, reason: "full" });
  }

  /** The bodies of a request; null if none were kept. */
  async find(id: string): Promise<LoggedBodies | null> {
    const at = timeOfId(id);
    if (at === null) return null;
    await this.flush();
    const [row] = await this.options.sql<[Row?]>`
      select request, request_bytes, response, response_bytes from request_body
       where created_at = ${new Date(at)} and id = ${id} limit 1`;
    if (row === undefined) return null;
    const { seal } = this.options;
    return {
      request: toBody(seal, row.request, row.request_bytes, `${id} request`),
      response: toBody(seal, row.response, row.response_bytes, `${id} response`),
    };
  }

  /** Resolves when all bodies that wait now are written, or when writing them failed. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#writing = this.#writing.then(() => this.#write());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const last = this.flush();
    this.#isClosed = true;
    await withTimeout(last, this.#limits.closeMs, () => undefined);
    this.#drop(this.#waiting.splice(0), "away");
  }

  async #write(): Promise<void> {
    for (let left = this.#waiting.length; left > 0; left -= this.#limits.batchMax) {
      const notes = this.#waiting.splice(0, this.#limits.batchMax);
      try {
        const rows = JSON.stringify(notes.map((note) => toRow(this.options.seal, note)));
        await this.options.sql`select request_body_write(${rows}::text::json)`;
        this.#failingSince = null;
        this.#release(notes);
      } catch (error) {
        this.#fail(notes, error);
        if (this.#failingSince !== null) return;
      }
    }
  }

  #fail(notes: BodyNote[], error: unknown): void {
    if (!isRetryable(error)) return this.#drop(notes, "refused", error);
    const now = performance.now();
    this.#failingSince ??= now;
    this.#waiting.unshift(...notes);
    if (now - this.#failingSince < this.#limits.awayMs) return this.#schedule();
    this.#drop(this.#waiting.splice(0), "away", error);
  }

  #drop(notes: readonly BodyNote[], reason: BodyLoss, error?: unknown): void {
    if (notes.length === 0) return;
    this.#release(notes);
    this.options.onLoss({ requests: notes.length, reason, error });
  }

  #release(notes: readonly BodyNote[]): void {
    for (const { borrowed } of notes) this.giveBack(borrowed);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.flush(), this.#limits.gatherMs);
    Deno.unrefTimer(this.#timer as unknown as number);
  }
}

interface Row {
  request: Uint8Array | null;
  request_bytes: string;
  response: Uint8Array | null;
  response_bytes: string;
}

function toRow(seal: BodySeal, { id, request, response }: BodyNote) {
  const sealed = (body: NotedBody | null, part: string) =>
    body === null ? undefined : seal.seal(body.bytes, `${id} ${part}`).toString("base64");
  return {
    id,
    at: timeOfId(id),
    request: sealed(request, "request"),
    request_bytes: request?.size ?? 0,
    response: sealed(response, "response"),
    response_bytes: response?.size ?? 0,
  };
}

function toBody(
  seal: BodySeal,
  sealed: Uint8Array | null,
  size: string,
  place: string,
): LoggedBody | null {
  if (sealed === null) return null;
  const bytes = Number(size);
  const opened = seal.open(sealed, place);
  if (opened === null) return { text: null, bytes, truncated: false };
  // As part of a longer text: a character that is cut at the end is left out.
  const text = new TextDecoder().decode(opened, { stream: true });
  return { text, bytes, truncated: opened.length < bytes };
}
