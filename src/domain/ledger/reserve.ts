import { newId } from "../../lib/ids.ts";
import { decimal, roundUp } from "../../lib/money.ts";
import type { UsageKind } from "../../model_types/usage.ts";
import type { Quote } from "../pricing/quote.ts";

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
  /** The maximum price. */
  readonly amount: bigint;
  readonly drawnAt: number;
  /** The database counts it as drawn. */
  isTold: boolean;
}

/** What a node tells the database, by bucket: what it returns, and what of the rest is drawn. */
export interface Told {
  allocations: string[];
  returned: bigint[];
  drawn: bigint[];
}

interface TellOptions {
  /** What stays of what is left; the rest is returned. */
  keep: { money: bigint; units: bigint };
  now: number;
  /** Younger draws are not told: most of them end before it would be of interest. */
  minAgeMs: number;
}

const ONE = decimal("1");
const ORDER_OF_USE = ["quota", "gift", "cash"];

/**
 * Money and quota of one account that the database keeps frozen for this node. Requests draw from it in memory:
 * what is held is always the sum of the draws and of what is left.
 */
export class Reserve {
  readonly id = newId("rsv");
  readonly draws = new Set<Draw>();
  /** The lease could have ended after this time; as `performance.now()`. */
  drawableUntil = 0;
  /** Its row in the database may not be as this node thinks: nothing more is drawn, and the lease ends it. */
  isAbandoned = false;
  readonly #shares: Share[] = [];

  constructor(readonly account: string, readonly kind: UsageKind) {}

  /** By unit: quota in units of 10⁻¹² too. */
  get held(): { money: bigint; units: bigint } {
    return this.#sum("held");
  }

  get left(): { money: bigint; units: bigint } {
    return this.#sum("left");
  }

  #sum(pick: "held" | "left"): { money: bigint; units: bigint } {
    const sums = { money: 0n, units: 0n };
    for (const share of this.#shares) sums[isQuota(share) ? "units" : "money"] += share[pick];
    return sums;
  }

  /** Draws the maximum price of a request in the order of use; null if it does not fit. */
  draw({ amount, units, kind }: Quote, scale: number, now: number): Draw | null {
    if (this.isAbandoned || now >= this.drawableUntil) return null;
    const price = roundUp(amount, scale);
    const parts: [share: Share, part: bigint][] = [];
    let owed = price;
    let covered = 0n;
    for (const share of this.#shares) {
      if (owed === 0n) break;
      if (share.left === 0n || share.endsAt <= now) continue;
      if (!isQuota(share)) {
        const part = min(share.left, owed);
        owed -= part;
        parts.push([share, part]);
      } else if (kind === this.kind && units > covered) {
        const part = min(share.left / ONE, units - covered);
        covered += part;
        owed = roundUp({ num: amount.num * (units - covered), den: amount.den * units }, scale);
        parts.push([share, part * ONE]);
      }
    }
    if (owed > 0n) return null;
    for (const [share, part] of parts) share.left -= part;
    const draw: Draw = {
      reserve: this,
      allocations: parts.map(([{ bucket }]) => bucket),
      held: parts.map(([, part]) => part),
      amount: price,
      drawnAt: now,
      isTold: false,
    };
    this.draws.add(draw);
    return draw;
  }

  /** The request is over: what it took has left the reserve, the rest of its draw may be drawn again. */
  end(draw: Draw, taken: readonly bigint[]): void {
    if (!this.draws.delete(draw)) return;
    for (const [at, bucket] of draw.allocations.entries()) {
      const share = this.#find(bucket)!;
      share.held -= taken[at] ?? 0n;
      share.left += draw.held[at]! - (taken[at] ?? 0n);
    }
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
    const rank = rankOf(bucket);
    const at = this.#shares.findIndex((other) => rankOf(other.bucket) > rank);
    const added = { bucket, held: amount, left: amount, endsAt };
    this.#shares.splice(at === -1 ? this.#shares.length : at, 0, added);
  }

  /** Gives up what is left beyond `keep`; the caller must tell the database, or abandon the reserve. */
  tell({ keep, now, minAgeMs }: TellOptions): Told {
    const kept = { ...keep };
    const told: Told = { allocations: [], returned: [], drawn: [] };
    for (const draw of this.draws) draw.isTold ||= now - draw.drawnAt >= minAgeMs;
    for (const share of this.#shares) {
      const unit = isQuota(share) ? "units" : "money";
      // What has ended pays for no further request.
      const stays = share.endsAt <= now ? 0n : min(share.left, kept[unit]);
      const returned = share.left - stays;
      kept[unit] -= stays;
      share.left -= returned;
      share.held -= returned;
      told.allocations.push(share.bucket);
      told.returned.push(returned);
      told.drawn.push(this.#toldOf(share.bucket));
    }
    return told;
  }

  /** How many draws the database counts that are not over. */
  get toldCount(): number {
    let count = 0;
    for (const { isTold } of this.draws) if (isTold) count++;
    return count;
  }

  #toldOf(bucket: string): bigint {
    let sum = 0n;
    for (const { isTold, allocations, held } of this.draws) {
      const at = isTold ? allocations.indexOf(bucket) : -1;
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

function rankOf(bucket: string): number {
  return ORDER_OF_USE.indexOf(bucket.split(":")[0]!);
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
