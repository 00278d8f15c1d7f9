import { newId } from "../../lib/ids.ts";
import { decimal, roundUp } from "../../lib/money.ts";
import type { UsageKind } from "../../model_types/usage.ts";
import type { Quote } from "../pricing/quote.ts";
import type { Amounts, ReserveDemand } from "./reserve_demand.ts";

/** A part of a reserve, in one balance bucket. Amounts and units of quota are counted in 10⁻¹². */
interface Share {
  readonly bucket: string;
  held: bigint;
  /** What no request has drawn. */
  left: bigint;
  /** The bucket ends then; as `performance.now()`. */
  endsAt: number;
}

/** What one request has drawn. */
export interface Draw {
  readonly reserve: Reserve;
  readonly allocations: readonly string[];
  readonly held: readonly bigint[];
  /** The maximum price and quantity. */
  readonly worst: Amounts;
  readonly drawnAt: number;
  /** The database counts it as drawn. */
  isTold: boolean;
  /** A statement that ends it waits or is under way. It has copied `isTold`, so that must not change any more. */
  isEnding: boolean;
  /** The API key of the request. */
  key: string | null;
  /** Gives the request a hold of its own, if it can. */
  move: () => Promise<void>;
  /** When that is tried, if it has not ended; as `performance.now()`. */
  moveAt: number;
}

/** What a node tells the database, by bucket: what it keeps, and what of that is drawn. */
export interface Told {
  allocations: string[];
  kept: bigint[];
  /** Null: the database knows, because draws have only ended since it was told. */
  drawn: bigint[] | null;
}

interface TellOptions {
  /** What stays of what is left; the rest is returned. */
  keep: Amounts;
  now: number;
  /** Younger draws are not told: most of them end before it would be of interest. Null: none is told. */
  minAgeMs: number | null;
}

interface DrawOptions {
  /** The maximum price and quantity. */
  worst: Amounts;
  scale: number;
  now: number;
  moveMs: number;
}

const ONE = decimal("1");
const ORDER_OF_USE = ["quota", "gift", "cash"];

/**
 * Money and quota of one account that the database keeps frozen for this node. Requests draw from it in memory:
 * what is held is always the sum of the draws and of what is left, and never more than the database has.
 */
export class Reserve {
  readonly id = newId("rsv");
  readonly draws = new Set<Draw>();
  /** The lease could have ended after this time; as `performance.now()`. */
  drawableUntil = 0;
  /** When the lease must be renewed; as `performance.now()`. */
  renewAt = 0;
  /** The number of the last renewal that was sent. */
  renewal = 0;
  /** The database has answered: if it does not know it any more, the lease has ended. */
  isStored = false;
  /** Nothing more is drawn from it: what is left is returned, and draws that end are too. */
  isClosing = false;
  /** While it is closing: the database has been told all draws. */
  hasToldAll = false;
  readonly #shares: Share[] = [];

  constructor(
    readonly account: string,
    readonly kind: UsageKind,
    readonly demand: ReserveDemand,
  ) {}

  get held(): Amounts {
    return this.#sum("held");
  }

  get left(): Amounts {
    return this.#sum("left");
  }

  #sum(pick: "held" | "left"): Amounts {
    const sums = { money: 0n, units: 0n };
    for (const share of this.#shares) sums[isQuota(share) ? "units" : "money"] += share[pick];
    return sums;
  }

  /** Draws the maximum price of a request in the order of use; null if it does not fit. */
  draw({ amount, units }: Quote, { worst, scale, now, moveMs }: DrawOptions): Draw | null {
    if (this.isClosing || now >= this.drawableUntil) return null;
    const parts: [share: Share, part: bigint][] = [];
    let owed = worst.money;
    let covered = 0n;
    for (const share of this.#shares) {
      if (owed === 0n) break;
      if (share.endsAt <= now) continue;
      let part: bigint;
      if (isQuota(share)) {
        const pays = min(share.left / ONE, units - covered);
        covered += pays;
        if (pays > 0n) {
          owed = roundUp({ num: amount.num * (units - covered), den: amount.den * units }, scale);
        }
        part = pays * ONE;
      } else {
        part = min(share.left, owed);
        owed -= part;
      }
      if (part > 0n) parts.push([share, part]);
    }
    if (owed > 0n) return null;
    for (const [share, part] of parts) share.left -= part;
    const draw: Draw = {
      reserve: this,
      allocations: parts.map(([{ bucket }]) => bucket),
      held: parts.map(([, part]) => part),
      worst,
      drawnAt: now,
      isTold: false,
      isEnding: false,
      key: null,
      move: () => Promise.resolve(),
      moveAt: now + moveMs,
    };
    this.draws.add(draw);
    return draw;
  }

  /**
   * A draw has ended: what was taken has left the reserve, the rest may be drawn again. Null: it is not known what
   * was taken, or it was taken from elsewhere; then the whole draw is given up, and the next renewal returns it.
   */
  end(draw: Draw, taken: readonly bigint[] | null, now: number): void {
    if (!this.draws.delete(draw)) return;
    const spent = { money: 0n, units: 0n };
    for (const [at, bucket] of draw.allocations.entries()) {
      const share = this.#find(bucket)!;
      const held = draw.held[at]!;
      const gone = taken === null ? held : taken[at] ?? 0n;
      share.held -= gone;
      share.left += held - gone;
      if (taken !== null) spent[isQuota(share) ? "units" : "money"] += gone;
    }
    this.demand.end(draw.worst, spent, now);
  }

  /** Whether so little is left that it must be topped up, so that the next requests find enough. */
  isBelow({ money, units }: Amounts): boolean {
    const { left, held } = this;
    return held.units === 0n ? left.money < money : left.units < units;
  }

  /** The database has added to it. */
  add(bucket: string, amount: bigint, endsAt: number): void {
    const share = this.#find(bucket);
    if (share !== undefined) {
      share.held += amount;
      share.left += amount;
      share.endsAt = endsAt;
      return;
    }
    this.#shares.push({ bucket, held: amount, left: amount, endsAt });
    this.#shares.sort(inOrderOfUse);
  }

  /** Gives up what is left beyond `keep`, and answers what the database must be told. */
  tell({ keep, now, minAgeMs }: TellOptions): Told {
    const kept = { ...keep };
    if (minAgeMs !== null) {
      for (const draw of this.draws) {
        if (!draw.isEnding) draw.isTold ||= now - draw.drawnAt >= minAgeMs;
      }
    }
    const told: Told = { allocations: [], kept: [], drawn: minAgeMs === null ? null : [] };
    for (const share of this.#shares) {
      const unit = isQuota(share) ? "units" : "money";
      // What has ended pays for no further request.
      const stays = share.endsAt <= now ? 0n : min(share.left, kept[unit]);
      kept[unit] -= stays;
      share.held -= share.left - stays;
      share.left = stays;
      told.allocations.push(share.bucket);
      told.kept.push(share.held);
      told.drawn?.push(this.#toldOf(share.bucket));
    }
    return told;
  }

  /** How many draws the database counts that are not over. */
  get toldCount(): number {
    let count = 0;
    for (const { isTold } of this.draws) if (isTold) count++;
    return count;
  }

  /** Without those that are ending: the statement that ends them may be executed first. */
  #toldOf(bucket: string): bigint {
    let sum = 0n;
    for (const { isTold, isEnding, allocations, held } of this.draws) {
      const at = isTold && !isEnding ? allocations.indexOf(bucket) : -1;
      if (at !== -1) sum += held[at]!;
    }
    return sum;
  }

  #find(bucket: string): Share | undefined {
    return this.#shares.find((share) => share.bucket === bucket);
  }
}

function isQuota({ bucket }: Share): boolean {
  return bucket.startsWith("quota:");
}

/** As the database orders balance buckets. */
function inOrderOfUse(a: Share, b: Share): number {
  const byEnd = a.endsAt === b.endsAt ? 0 : a.endsAt - b.endsAt;
  return rankOf(a) - rankOf(b) || byEnd || (a.bucket < b.bucket ? -1 : 1);
}

function rankOf({ bucket }: Share): number {
  return ORDER_OF_USE.indexOf(bucket.split(":")[0]!);
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
