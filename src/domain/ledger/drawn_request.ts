import { decimal, formatDecimal } from "../../lib/money.ts";
import { retryFor } from "../../platform/database/retry_for.ts";
import type { Charge } from "../pricing/quote.ts";
import type { Bookings } from "./bookings.ts";
import { holdItem, type HoldRequest, requestFields, type Resolver } from "./hold.ts";
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
 * a hold of its own: with its first checkpoint, or when the node finds it.
 */
export class DrawnRequest implements Resolver {
  readonly #begunAt = new Date();
  /** Whether it has got a hold; null while it needs none. */
  #moving: Promise<boolean> | null = null;
  /** It has nothing in the reserve any more: if it has no hold either, the free balance pays. */
  #hasEnded = false;

  constructor(
    private readonly deps: Deps,
    private readonly request: HoldRequest,
    private readonly draw: Draw,
    private readonly scale: number,
  ) {
    // It is tried again after a while; the settlement needs no hold.
    draw.move = () => this.#getHold().then(() => undefined, () => undefined);
    draw.key = request.origin?.key ?? null;
  }

  async settle(id: string, charge: Charge): Promise<Resolution> {
    const { bookings, holds } = this.deps;
    if (await this.#hasHold()) return await holds.settle(id, charge, this.request.account);
    return await bookings.settle(
      this.#chargeItem(charge),
      (outcome) => this.#end(takenOf(this.draw, outcome)),
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
      this.#end(null);
      this.deps.bookings.giveUp(this.#chargeItem(charge));
      throw error;
    }
  }

  async settleDelivered(id: string, charge: Charge): Promise<Resolution | null> {
    const { bookings, holds } = this.deps;
    if (await this.#hasHold()) {
      return await holds.settleDelivered(id, charge, this.request.account);
    }
    return await bookings.settleDelivered(
      () => this.#chargeItem(charge),
      () =>
        this.settle(id, charge).catch((error) => {
          // It may wait for the database longer than the lease lasts.
          this.#end(null);
          throw error;
        }),
    );
  }

  async release(id: string): Promise<Resolution> {
    const { bookings, holds } = this.deps;
    if (await this.#hasHold()) return await holds.release(id, this.request.account);
    try {
      return await bookings.settle(this.#chargeItem(null));
    } finally {
      // Nothing is taken, whatever becomes of the receipt.
      this.#end([]);
    }
  }

  async checkpoint(id: string, charge: Charge): Promise<void> {
    if (await this.#getHold()) await this.deps.holds.checkpoint(id, charge, this.request.account);
  }

  /** Answers whether it has a hold now. */
  #getHold(): Promise<boolean> {
    this.#moving ??= this.#move().then((hasMoved) => {
      if (!hasMoved) this.#moving = null;
      return hasMoved;
    }, (error) => {
      // It may have been moved: the next attempt, or the settlement, finds out.
      this.#end(null);
      this.#moving = null;
      throw error;
    });
    return this.#moving;
  }

  /** Moves what was drawn from the reserve to a hold. If the reserve is gone, the free balance is held. */
  async #move(): Promise<boolean> {
    const { bookings, renewer } = this.deps;
    const { id, ttlSeconds } = this.request;
    const leased = { ...this.request, ttlSeconds: Math.min(ttlSeconds, LEASE_SECONDS) };
    this.draw.isEnding = true;
    let isHeld = false;
    try {
      const item = { ...holdItem(leased, this.scale), ...this.#drawnFields() };
      const { outcome } = await bookings.run(item);
      isHeld = outcome === "held" || outcome === "already";
    } finally {
      this.draw.isEnding = isHeld;
    }
    if (!isHeld) return false;
    this.#end(null);
    renewer.add(id, ttlSeconds);
    return true;
  }

  async #hasHold(): Promise<boolean> {
    return this.#moving !== null && await this.#moving.catch(() => false);
  }

  #end(taken: readonly bigint[] | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.deps.reserves.end(this.draw, taken);
  }

  /** Without a charge: the request failed and costs nothing. */
  #chargeItem(charge: Charge | null): Item {
    const { request, draw, scale } = this;
    draw.isEnding = true;
    return {
      op: "charge",
      ...requestFields(request, scale),
      beyond_hold: request.beyondHold ?? false,
      amount: formatDecimal(draw.worst.money),
      max_units: String(request.quote.units),
      begun_at: this.#begunAt.toISOString(),
      ...this.#drawnFields(),
      ...(charge === null ? {} : chargeFields(charge)),
    };
  }

  #drawnFields() {
    if (this.#hasEnded) return {};
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
