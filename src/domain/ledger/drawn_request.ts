import { decimal, formatDecimal } from "../../lib/money.ts";
import { retryFor } from "../../platform/database/retry_for.ts";
import type { Charge } from "../pricing/quote.ts";
import type { Bookings } from "./bookings.ts";
import { holdItem, type HoldRequest, type Resolver } from "./hold.ts";
import { type HoldRenewer, LEASE_SECONDS } from "./hold_renewer.ts";
import { chargeFields, type Item, type Outcome } from "./item.ts";
import type { Draw } from "./reserve.ts";
import type { Reserves } from "./reserves.ts";
import type { Resolution } from "./settle.ts";

interface Deps {
  readonly reserves: Reserves;
  readonly bookings: Bookings;
  /** For a request that got a hold. */
  readonly holds: Resolver;
  readonly renewer: HoldRenewer;
}

/**
 * A request that has drawn from a reserve. One statement writes its receipt and takes the money. If it lasts, it gets
 * a hold of its own with its first checkpoint.
 */
export class DrawnRequest implements Resolver {
  /** Whether it has a hold; null while it needs none. */
  #moving: Promise<boolean> | null = null;
  #hasEnded = false;

  constructor(
    private readonly deps: Deps,
    private readonly request: HoldRequest,
    private readonly draw: Draw,
    private readonly scale: number,
  ) {}

  async settle(id: string, charge: Charge): Promise<Resolution> {
    const { bookings, holds } = this.deps;
    if (await this.#hasHold()) return await holds.settle(id, charge, this.request.account);
    return await bookings.settle(
      bookings.together,
      this.#chargeItem(charge),
      (outcome) => this.#end(takenOf(this.draw, outcome), charge),
    );
  }

  async settleAgain(
    id: string,
    charge: Charge,
    _account: string,
    { error, waitMs }: { error: unknown; waitMs: number },
  ): Promise<Resolution> {
    try {
      return await retryFor(waitMs, error, () => this.settle(id, charge));
    } catch (error) {
      this.#end(null, charge);
      throw error;
    }
  }

  async settleDelivered(id: string, charge: Charge): Promise<Resolution | null> {
    const { bookings, holds } = this.deps;
    if (await this.#hasHold()) {
      return await holds.settleDelivered(id, charge, this.request.account);
    }
    return await bookings.settleDelivered(
      this.#chargeItem(charge),
      () =>
        this.settle(id, charge).catch((error) => {
          this.#end(null, charge);
          throw error;
        }),
    );
  }

  async release(id: string): Promise<Resolution> {
    const { bookings, holds } = this.deps;
    if (await this.#hasHold()) return await holds.release(id, this.request.account);
    // Nothing is taken, whatever becomes of the receipt.
    this.#end([], null);
    return await bookings.settle(bookings.together, this.#chargeItem(null));
  }

  async checkpoint(id: string, charge: Charge): Promise<void> {
    this.#moving ??= this.#move();
    if (await this.#moving) await this.deps.holds.checkpoint(id, charge, this.request.account);
  }

  /** Moves what was drawn from the reserve to a hold. */
  async #move(): Promise<boolean> {
    const { reserves, bookings, renewer } = this.deps;
    const { id, ttlSeconds } = this.request;
    const leased = { ...this.request, ttlSeconds: Math.min(ttlSeconds, LEASE_SECONDS) };
    try {
      const item = { ...holdItem(leased, this.scale), ...this.#reserved() };
      const { outcome } = await bookings.together.run(item);
      if (outcome !== "held" && outcome !== "already") return false;
    } catch (error) {
      // It may have been moved: the next checkpoint, or the settlement, finds out.
      reserves.abandon(this.draw.reserve);
      this.#moving = null;
      throw error;
    }
    this.#end(this.draw.held, null);
    renewer.add(id, ttlSeconds);
    return true;
  }

  async #hasHold(): Promise<boolean> {
    return this.#moving !== null && await this.#moving.catch(() => false);
  }

  #end(taken: readonly bigint[] | null, charge: Charge | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.deps.reserves.end(this.draw, this.request.quote, taken, charge);
  }

  /** Without a charge: the request failed and costs nothing. */
  #chargeItem(charge: Charge | null): Item {
    const { ttl_seconds: _, num: __, den: ___, units, ...described } = holdItem(
      this.request,
      this.scale,
    );
    return {
      ...described,
      op: "charge",
      beyond_hold: this.request.beyondHold ?? false,
      amount: formatDecimal(this.draw.amount),
      max_units: units!,
      age_ms: this.deps.reserves.ageMs(this.draw),
      ...this.#reserved(),
      ...(charge === null ? {} : chargeFields(charge)),
    };
  }

  #reserved() {
    const { reserve, allocations, held, isTold } = this.draw;
    return {
      reserve_id: reserve.id,
      allocations: [...allocations],
      held: held.map((amount) => formatDecimal(amount)),
      is_told: isTold,
    };
  }
}

/** What was taken from each allocation; null if the reserve was gone and other money paid. */
function takenOf(draw: Draw, { allocations, held, taken }: Outcome): bigint[] | null {
  const isFromReserve = draw.allocations.every((bucket, at) =>
    allocations?.[at] === bucket && decimal(held![at]!) === draw.held[at]
  );
  return isFromReserve ? draw.allocations.map((_, at) => decimal(taken![at]!)) : null;
}
