import { NotedBody } from "./noted_body.ts";
import type { OpenRequest } from "./open_request.ts";

/** Whose bodies are kept, and how much of them. */
export interface BodyRules {
  /** `errors`: of requests that failed, also in the middle of a stream. */
  readonly keep: "errors" | "all";
  /** Bytes of each body. */
  readonly bytesMax: number;
}

/** Lends memory for bodies, and takes those that are complete. */
export interface BodySink {
  /** False: there is none left. */
  borrow(bytes: number): boolean;
  giveBack(bytes: number): void;
  add(note: BodyNote): void;
  /** It got no memory. */
  lose(): void;
}

/**
 * The bodies of a request under way: copies of their beginnings, so that a large body is not kept in memory for them.
 * When the request and its response have ended, they are handed to the log or dropped.
 */
export class BodyNote {
  #request: NotedBody | null = null;
  #response: NotedBody | null = null;
  #borrowed = 0;
  #isLost = false;
  /** Ends that are awaited: of the request, and of its response where that is noted. */
  #awaited = 1;

  constructor(
    private readonly sink: BodySink,
    private readonly of: OpenRequest,
    private readonly rules: BodyRules,
  ) {}

  get id(): string {
    return this.of.id;
  }

  get request(): NotedBody | null {
    return this.#request;
  }

  get response(): NotedBody | null {
    return this.#response;
  }

  /** Memory that it takes. */
  get borrowed(): number {
    return this.#borrowed;
  }

  noteRequest(bytes: Uint8Array): void {
    this.#request = this.#add(this.#request, bytes);
  }

  /** Whether the response is noted: a stream may still fail, of any other the status decides. */
  wantsResponse(status: number, isStream: boolean): boolean {
    return isStream || this.rules.keep === "all" || status >= 400;
  }

  /** The response is noted until `endResponse`. */
  beginResponse(): void {
    this.#awaited++;
  }

  noteResponse(bytes: Uint8Array): void {
    this.#response = this.#add(this.#response, bytes);
  }

  endResponse(): void {
    this.#end();
  }

  endRequest(): void {
    this.#end();
  }

  #add(noted: NotedBody | null, bytes: Uint8Array): NotedBody | null {
    if (this.#isLost) return null;
    const body = noted ?? new NotedBody(this.rules.bytesMax);
    const grows = body.capacityFor(bytes) - body.capacity;
    if (grows > 0 && !this.sink.borrow(grows)) {
      this.#isLost = true;
      this.#release();
      this.sink.lose();
      return null;
    }
    this.#borrowed += grows;
    body.add(bytes);
    return body;
  }

  #release(): void {
    this.sink.giveBack(this.#borrowed);
    this.#borrowed = 0;
    this.#request = this.#response = null;
  }

  #end(): void {
    if (--this.#awaited > 0) return;
    const isFailed = this.of.status >= 400 || this.of.errorCode !== null;
    const isKept = this.rules.keep === "all" || isFailed;
    const hasBody = this.#request !== null || this.#response !== null;
    if (isKept && hasBody) this.sink.add(this);
    else this.#release();
  }
}
