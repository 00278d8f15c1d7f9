import { Breaker } from "../../lib/breaker.ts";
import type { ClaimedDelivery } from "./claim.ts";

/** Deliveries of one account to one host. */
export interface Destination {
  readonly name: string;
  /** Attempts under way. */
  sending: number;
  /** Attempts it may have under way: grows as they are answered. */
  slots: number;
  /** Claimed, and waiting for a slot. */
  readonly waiting: ClaimedDelivery[];
  /** There may be more in the database than was claimed. */
  mayHaveMore: boolean;
  isClaiming: boolean;
}

/** Attempts at once to one destination … */
export const DESTINATION_SLOTS = 16;
/** … before its receiver has responded once, so that only very many dead receivers fill the process … */
const FIRST_SLOTS = 2;
/** … and to all destinations of this process. */
const SLOTS = 512;
/** Claims must not wait until their lease expires. */
export const WAIT_MS_MAX = 20_000;

/** How long the health of a receiver is kept. */
const HEALTH_KEPT_MS = 600_000;

/** What to do with a claimed delivery. */
export type DeliveryAction =
  | { readonly kind: "send"; readonly delivery: ClaimedDelivery }
  /** It waited too long, or the circuit breaker is open: it can be claimed again after `waitMs`. */
  | { readonly kind: "back"; readonly delivery: ClaimedDelivery; readonly waitMs: number };

/**
 * Separates receivers: each destination has a few slots of its own, and a circuit breaker that opens when its
 * receiver cannot be reached. A receiver that hangs delays only its own deliveries.
 */
export class DestinationQueues {
  readonly #destinations = new Map<string, Destination>();
  readonly #breaker: Breaker;
  /** Found no free slot in the process; served in the order they came. */
  readonly #starved = new Set<Destination>();
  #sending = 0;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.#breaker = new Breaker(now);
  }

  get sending(): number {
    return this.#sending;
  }

  destination(name: string): Destination {
    let destination = this.#destinations.get(name);
    if (destination === undefined) {
      destination = {
        name,
        sending: 0,
        slots: FIRST_SLOTS,
        waiting: [],
        mayHaveMore: false,
        isClaiming: false,
      };
      this.#destinations.set(name, destination);
    }
    return destination;
  }

  /** Destinations that need no more claims now. Those that are full fetch more themselves later. */
  blocked(): string[] {
    const full = [...this.#destinations.values()].filter(({ waiting }) =>
      waiting.length >= DESTINATION_SLOTS
    );
    for (const destination of full) destination.mayHaveMore = true;
    return [...full.map(({ name }) => name), ...this.#open.keys()];
  }

  /** When the breaker allows another attempt, by destination; past times are removed on reading. */
  get #open(): Map<string, number> {
    for (const [name, until] of this.#openUntil) {
      if (until <= this.now()) this.#openUntil.delete(name);
    }
    return this.#openUntil;
  }
  readonly #openUntil = new Map<string, number>();

  /** What to do now with the waiting deliveries; `send` takes a slot. */
  *actions(destination: Destination): Generator<DeliveryAction> {
    while (destination.waiting.length > 0) {
      const rest = this.#openMs(destination.name);
      if (rest > 0) {
        yield { kind: "back", delivery: destination.waiting.shift()!, waitMs: rest };
      } else if (this.now() - destination.waiting[0]!.claimedAt > WAIT_MS_MAX) {
        destination.mayHaveMore = true;
        yield { kind: "back", delivery: destination.waiting.shift()!, waitMs: 0 };
      } else if (destination.sending >= destination.slots) {
        return;
      } else if (this.#sending >= SLOTS) {
        this.#starved.add(destination);
        return;
      } else if (!this.#breaker.allow(destination.name)) {
        // The trial attempt of the half-open breaker is running.
        return;
      } else {
        destination.sending++;
        this.#sending++;
        yield { kind: "send", delivery: destination.waiting.shift()! };
      }
    }
  }

  /** Frees a slot and returns destinations to continue with. `reached`: null when the attempt was aborted. */
  release(destination: Destination, reached: boolean | null): Destination[] {
    destination.sending--;
    this.#sending--;
    if (reached === null) this.#breaker.recordAbandoned(destination.name);
    else if (reached) {
      this.#breaker.recordSuccess(destination.name);
      this.#openUntil.delete(destination.name);
      destination.slots = Math.min(destination.slots + 1, DESTINATION_SLOTS);
    } else if (this.#openMs(destination.name) === 0) {
      // Attempts that were running when the breaker opened fail for the same reason and count once.
      destination.slots = Math.max(1, destination.slots >> 1);
      this.#breaker.recordFailure(destination.name);
      const { state, openUntil } = this.#breaker.getHealth(destination.name);
      if (state === "open") this.#openUntil.set(destination.name, openUntil);
    }
    const starved = [...this.#starved];
    this.#starved.clear();
    return [...starved, destination];
  }

  /** How many more deliveries to claim; 0 while there are enough, a claim is running, or the breaker is open. */
  prefetch(destination: Destination): number {
    if (!destination.mayHaveMore || destination.isClaiming || this.#openMs(destination.name) > 0) {
      return 0;
    }
    const room = 2 * DESTINATION_SLOTS - destination.sending - destination.waiting.length;
    return room >= DESTINATION_SLOTS ? room : 0;
  }

  /** Removes a destination without work. The breaker keeps the health of its receiver. */
  removeIdle(destination: Destination): void {
    if (
      destination.sending === 0 && destination.waiting.length === 0 && !destination.isClaiming &&
      !destination.mayHaveMore
    ) {
      this.#destinations.delete(destination.name);
    }
  }

  /** Removes the health of receivers without recent attempts, to bound the memory. */
  expireHealth(): void {
    this.#breaker.deleteBefore(this.now() - HEALTH_KEPT_MS);
  }

  /** Takes all claimed deliveries that are not being sent. */
  takeWaiting(): ClaimedDelivery[] {
    return [...this.#destinations.values()].flatMap(({ waiting }) => waiting.splice(0));
  }

  #openMs(name: string): number {
    return Math.max(0, (this.#open.get(name) ?? 0) - this.now());
  }
}
