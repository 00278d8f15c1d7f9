import type { Tokens } from "./exact.ts";

export type Kind = "chat" | "stream" | "image" | "video" | "speech" | "upload";

/**
 * How a request ended for its client.
 * - `complete`: the whole answer came (for a stream: usage and `[DONE]`)
 * - `refused`: an error came instead of an answer
 * - `failed`: a stream told of a failure
 * - `broken`: the answer began and its connection broke
 * - `silent`: a stream ended with neither `[DONE]` nor an error
 * - `left`: the client went away, or stopped waiting
 * - `unknown`: no answer came
 */
export type End = "complete" | "refused" | "failed" | "broken" | "silent" | "left" | "unknown";

/** One request as its client saw it. */
export interface Entry {
  /** Sent as X-Client-Request-Id; of all attempts of a request that is repeated with its idempotency key. */
  readonly id: string;
  readonly kind: Kind;
  readonly account: number;
  readonly model: string;
  /** What the upstream was told to do, beyond answering. */
  readonly directive: string;
  attempts: number;
  /** Attempts without an answer, or with 5xx: what they did is not known. */
  uncertain: number;
  status: number | null;
  code: string | null;
  requestId: string | null;
  end: End;
  /** Of a chat, as the answer told it. */
  tokens: Tokens | null;
  /** Events with text that a stream brought. */
  pieces: number;
  /** Of speech. */
  characters: number;
  /** Tasks that were promised by a 202; more than one is a violation. */
  readonly tasks: Set<string>;
  /** Of an upload. */
  file: { id: string; sha256: string } | null;
}

export interface Account {
  readonly index: number;
  readonly id: string;
  readonly key: string;
  /** Booked in, each once. */
  readonly credits: string[];
  /** Whether it has an endpoint that is never deleted. */
  readonly hasEndpoint: boolean;
}

/** What the clients of a run know. The audit holds it against what the gateway says. */
export class ClientRecords {
  readonly accounts: Account[] = [];
  readonly entries = new Map<string, Entry>();
  cancels = 0;
  reads = 0;
  endpoints = 0;

  open(fields: Pick<Entry, "id" | "kind" | "account" | "model" | "directive">): Entry {
    const entry: Entry = {
      ...fields,
      attempts: 0,
      uncertain: 0,
      status: null,
      code: null,
      requestId: null,
      end: "unknown",
      tokens: null,
      pieces: 0,
      characters: 0,
      tasks: new Set(),
      file: null,
    };
    this.entries.set(entry.id, entry);
    return entry;
  }
}
