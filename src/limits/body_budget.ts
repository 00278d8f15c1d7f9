import { Refusal } from "../base/refusal.ts";

/** How many bytes of request bodies may be in memory at once. */
export interface BodyLimits {
  /** In one process. */
  readonly bodyBytesTotalMax: number;
  /** Of one account. */
  readonly bodyBytesAccountMax: number;
}

const RETRY_SECONDS = 1;
/**
 * While it is read, decoded, parsed and sent on, a body is in memory about four times; what a running stream
 * keeps of it is one copy.
 */
const KEPT_SHARE = 4;

/** Room for the bytes of one request. Released once, however often it is asked to be. */
export class BodyReservation {
  #bytes = 0;
  #isOver = false;
  /** A stream goes on with the request, and releases this at its end. */
  isKept = false;

  constructor(private readonly change: (bytes: number) => void) {}

  grow(bytes: number): void {
    if (this.#isOver) return;
    this.change(bytes);
    this.#bytes += bytes;
  }

  /** The request was sent on: from now on it takes less, until its stream ends. */
  keep(): void {
    if (this.#isOver || this.isKept) return;
    this.isKept = true;
    const freed = this.#bytes - Math.ceil(this.#bytes / KEPT_SHARE);
    this.change(-freed);
    this.#bytes -= freed;
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.change(-this.#bytes);
  }
}

/**
 * Counts the bytes of bodies in memory, by account and in all. They are taken before a body is read: a body
 * costs several times its size, and neither its owner's money nor its contents can be looked at before.
 */
export class BodyBudget {
  #total = 0;
  readonly #owners = new Map<string, number>();

  /** `threads`: how many gateways share the process' limit. */
  constructor(private readonly threads: number) {}

  /** Throws the API error when there is no room. */
  take(owner: string, bytes: number, limits: BodyLimits): BodyReservation {
    const reservation = new BodyReservation((change) => this.#change(owner, change, limits));
    reservation.grow(bytes);
    return reservation;
  }

  #change(owner: string, bytes: number, limits: BodyLimits): void {
    const held = this.#owners.get(owner) ?? 0;
    if (bytes > 0) {
      // A body on its own always fits: its size has a limit already.
      if (held > 0 && held + bytes > limits.bodyBytesAccountMax) throw ownerIsFull(limits);
      if (this.#total > 0 && this.#total + bytes > limits.bodyBytesTotalMax / this.threads) {
        throw nodeIsFull();
      }
    }
    this.#total += bytes;
    if (held + bytes === 0) this.#owners.delete(owner);
    else this.#owners.set(owner, held + bytes);
  }
}

function ownerIsFull({ bodyBytesAccountMax }: BodyLimits): Refusal {
  return new Refusal(
    "concurrency_limit_exceeded",
    `Too many large requests at once: their bodies may have ${bodyBytesAccountMax} bytes together. ` +
      "Send this one again when another is answered.",
    { retryAfterSeconds: RETRY_SECONDS },
  );
}

function nodeIsFull(): Refusal {
  return new Refusal(
    "overloaded",
    "The service is reading as many large requests as it can: try again in a moment.",
    { retryAfterSeconds: RETRY_SECONDS },
  );
}
