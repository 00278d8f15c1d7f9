import { ApiError } from "../../lib/api_error.ts";
import { BodyReservation } from "./body_reservation.ts";

/** Limits of the bytes of request bodies in memory. */
export interface BodyLimits {
  /** In one process. */
  readonly bodyBytesTotalMax: number;
  /** Of one account; never more than an eighth of the total. */
  readonly bodyBytesAccountMax: number;
}

const RETRY_SECONDS = 1;
const ACCOUNT_SHARE = 8;
/** An account with no more than this in memory is accepted when the process is full, ... */
const NEWCOMER_BYTES = 1024 * 1024;
/** ... until all are so much above the total. */
const MARGIN_SHARE = 4;

interface Holder {
  bodies: number;
  /** The announced length of its bodies, or the received length if that is more. */
  reserved: number;
  /** Received bytes. */
  arrived: number;
}

/**
 * Counts the bytes of bodies in memory, by account and in all. An account's share is taken when a body is
 * announced, so an account can only block itself. Of the total a body takes the received bytes: announcing
 * costs nothing, so it must not block others.
 */
export class BodyBudget {
  #total = 0;
  readonly #holders = new Map<string, Holder>();
  readonly #reading = new Map<BodyReservation, Holder>();

  /** `threads`: how many gateways share the process' limits. */
  constructor(private readonly threads: number) {}

  /** Whether no body is in memory: nothing is kept of an account that has none. */
  get isEmpty(): boolean {
    return this.#holders.size === 0 && this.#reading.size === 0;
  }

  /** Throws the API error when the account's share is used up. */
  take(owner: string, announced: number, limits: BodyLimits): BodyReservation {
    const holder = this.#holders.get(owner) ?? { bodies: 0, reserved: 0, arrived: 0 };
    const body = new BodyReservation({
      reserve: (bytes) => this.#reserve(holder, body, bytes, limits),
      arrive: (bytes) => this.#arrive(holder, body, bytes, limits),
      finishReading: () => void this.#reading.delete(body),
      release: () => this.#release(owner, holder, body),
    });
    body.reserve(announced);
    holder.bodies++;
    this.#holders.set(owner, holder);
    this.#reading.set(body, holder);
    return body;
  }

  #reserve(holder: Holder, body: BodyReservation, bytes: number, limits: BodyLimits): void {
    const { bodyBytesAccountMax, bodyBytesTotalMax } = limits;
    const share = Math.min(bodyBytesAccountMax, bodyBytesTotalMax / ACCOUNT_SHARE) / this.threads;
    // A body on its own always fits: its size has a limit already.
    const isAlone = holder.reserved <= body.reserved;
    if (bytes > 0 && !isAlone && holder.reserved + bytes > share) throw ownerIsFull(share);
    holder.reserved += bytes;
  }

  #arrive(holder: Holder, body: BodyReservation, bytes: number, limits: BodyLimits): void {
    if (bytes > 0) this.#makeRoom(holder, body, bytes, limits.bodyBytesTotalMax / this.threads);
    holder.arrived += bytes;
    this.#total += bytes;
  }

  #makeRoom(holder: Holder, body: BodyReservation, bytes: number, limit: number): void {
    const held = holder.arrived + bytes;
    while (this.#total + bytes > limit && this.#total > body.arrived) {
      const isNewcomer = held <= Math.min(NEWCOMER_BYTES, limit / ACCOUNT_SHARE);
      if (isNewcomer && this.#total + bytes <= limit + limit / MARGIN_SHARE) return;
      const largest = this.#largestBeingRead();
      if (largest === null || largest.holder === holder || largest.holder.arrived <= held) {
        throw nodeIsFull();
      }
      largest.body.cancel(nodeIsFull());
    }
  }

  /** Of the account with the most bytes: its bodies are aborted first. */
  #largestBeingRead(): { body: BodyReservation; holder: Holder } | null {
    let largest: { body: BodyReservation; holder: Holder } | null = null;
    for (const [body, holder] of this.#reading) {
      if (body.arrived === 0) continue;
      const more = largest === null ? 1 : holder.arrived - largest.holder.arrived ||
        body.arrived - largest.body.arrived;
      if (more > 0) largest = { body, holder };
    }
    return largest;
  }

  #release(owner: string, holder: Holder, body: BodyReservation): void {
    this.#reading.delete(body);
    if (--holder.bodies === 0) this.#holders.delete(owner);
  }
}

function ownerIsFull(share: number): ApiError {
  return new ApiError(
    "concurrency_limit_exceeded",
    `Too many large requests at once: their bodies may have ${Math.floor(share)} bytes together. ` +
      "Send this one again when another is answered.",
    { retryAfterSeconds: RETRY_SECONDS },
  );
}

function nodeIsFull(): ApiError {
  return new ApiError(
    "overloaded",
    "The service is reading as many large requests as it can: try again in a moment.",
    { retryAfterSeconds: RETRY_SECONDS },
  );
}
