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

/** Attempts at once in one lane … */
export const DESTINATION_SLOTS = 16;
/** … before its receiver has answered, so that it takes very many dead ones to fill the process … */
const LANE_SLOTS_FIRST = 2;
/** … and in all lanes of this process. */
const SLOTS = 512;
/** Claims must not wait until their lease is over. */
export const WAIT_MS_MAX = 20_000;

/** How long the failures of a receiver are remembered. */
const HEALTH_KEPT_MS = 600_000;

/** What a lane does next. */
export type DeliverySlot =
  | { readonly kind: "send"; readonly delivery: ClaimedDelivery }
  /** Waited too long, or the receiver rests: somebody may claim it again after `waitMs`. */
  | { readonly kind: "back"; readonly delivery: ClaimedDelivery; readonly waitMs: number };

/**
 * Keeps receivers apart: each lane has its own few slots, and rests as a whole when its receiver cannot
 * be reached. A receiver that hangs holds up its own lane and nobody else's.
 */
export class DestinationQueues {
  readonly #lanes = new Map<string, Destination>();
  readonly #breaker: Breaker;
  /** Found no slot left in the whole process; served first come, first served. */
  readonly #hungry = new Set<Destination>();
  #sending = 0;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.#breaker = new Breaker(now);
  }

  get sending(): number {
    return this.#sending;
  }

  lane(name: string): Destination {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = {
        name,
        sending: 0,
        slots: LANE_SLOTS_FIRST,
        waiting: [],
        mayHaveMore: false,
        isClaiming: false,
      };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  /** Lanes that can do nothing with more now. Those that are merely full will ask for it themselves. */
  blocked(): string[] {
    const full = [...this.#lanes.values()].filter(({ waiting }) =>
      waiting.length >= DESTINATION_SLOTS
    );
    for (const lane of full) lane.mayHaveMore = true;
    return [...full.map(({ name }) => name), ...this.#resting.keys()];
  }

  /** Until when, by lane; those whose rest is over leave when they are next looked at. */
  get #resting(): Map<string, number> {
    for (const [name, until] of this.#rests) if (until <= this.now()) this.#rests.delete(name);
    return this.#rests;
  }
  readonly #rests = new Map<string, number>();

  /** What the lane can do now; `send` takes a slot. */
  *turns(lane: Destination): Generator<DeliverySlot> {
    while (lane.waiting.length > 0) {
      const rest = this.#restMs(lane.name);
      if (rest > 0) {
        yield { kind: "back", delivery: lane.waiting.shift()!, waitMs: rest };
      } else if (this.now() - lane.waiting[0]!.claimedAt > WAIT_MS_MAX) {
        lane.mayHaveMore = true;
        yield { kind: "back", delivery: lane.waiting.shift()!, waitMs: 0 };
      } else if (lane.sending >= lane.slots) {
        return;
      } else if (this.#sending >= SLOTS) {
        this.#hungry.add(lane);
        return;
      } else if (!this.#breaker.allow(lane.name)) {
        // One is out to see whether the receiver is back.
        return;
      } else {
        lane.sending++;
        this.#sending++;
        yield { kind: "send", delivery: lane.waiting.shift()! };
      }
    }
  }

  /** Gives a slot back; the result is whom to look at next. `reached`: null when nothing was learnt. */
  ended(lane: Destination, reached: boolean | null): Destination[] {
    lane.sending--;
    this.#sending--;
    if (reached === null) this.#breaker.recordAbandoned(lane.name);
    else if (reached) {
      this.#breaker.recordSuccess(lane.name);
      this.#rests.delete(lane.name);
      lane.slots = Math.min(lane.slots + 1, DESTINATION_SLOTS);
    } else if (this.#restMs(lane.name) === 0) {
      // Those that were under way when it began to rest fail for the same reason: they count once.
      lane.slots = Math.max(1, lane.slots >> 1);
      this.#breaker.recordFailure(lane.name);
      const { state, openUntil } = this.#breaker.getHealth(lane.name);
      if (state === "open") this.#rests.set(lane.name, openUntil);
    }
    const hungry = [...this.#hungry];
    this.#hungry.clear();
    return [...hungry, lane];
  }

  /** How many more the lane should fetch; none while it has enough, is busy fetching, or rests. */
  appetite(lane: Destination): number {
    if (!lane.mayHaveMore || lane.isClaiming || this.#restMs(lane.name) > 0) return 0;
    const room = 2 * DESTINATION_SLOTS - lane.sending - lane.waiting.length;
    return room >= DESTINATION_SLOTS ? room : 0;
  }

  /** Forgets a lane that has nothing to do. How its receiver fares is remembered elsewhere. */
  forget(lane: Destination): void {
    if (lane.sending === 0 && lane.waiting.length === 0 && !lane.isClaiming && !lane.mayHaveMore) {
      this.#lanes.delete(lane.name);
    }
  }

  /** Receivers that nobody sends to any more must not fill the memory. */
  forgetOld(): void {
    this.#breaker.deleteBefore(this.now() - HEALTH_KEPT_MS);
  }

  /** Everything claimed that is not under way. */
  takeWaiting(): ClaimedDelivery[] {
    return [...this.#lanes.values()].flatMap(({ waiting }) => waiting.splice(0));
  }

  #restMs(name: string): number {
    return Math.max(0, (this.#resting.get(name) ?? 0) - this.now());
  }
}
