import { decimal, formatDecimal, roundHalfUp, roundUp, SCALE } from "../../lib/money.ts";
import { periodic } from "../../lib/timers.ts";
import type { UsageKind } from "../../model_types/usage.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import type { Charge, Quote } from "../pricing/quote.ts";
import { type Draw, Reserve } from "./reserve.ts";
import { type Amounts, ReserveDemand } from "./reserve_demand.ts";
import { RESERVE_TIMING, type ReserveTiming } from "./reserve_timing.ts";

export interface ReservesOptions {
  nodeId: string;
  /** Calls the listener with an account whose reserves are needed elsewhere. */
  onRecall(listener: (account: string) => void): void;
  log: Pick<Log, "error">;
  timing?: Partial<ReserveTiming> | undefined;
  now?: () => number;
}

/** What an account has on this node. */
interface Entry {
  readonly account: string;
  readonly kind: UsageKind;
  readonly demand: ReserveDemand;
  reserve: Reserve | null;
  renewAt: number;
  /** No reserve until then, because the account has too little money or needs it elsewhere. */
  pausedUntil: number;
  isRecalled: boolean;
}

/** A row of `ledger_renew_reserves`. */
interface Renewed {
  n: number;
  outcome: "renewed" | "gone";
  allocations: string[];
  added: string[];
  ends_in_ms: (number | null)[];
}

interface Renewal {
  readonly entry: Entry;
  readonly reserve: Reserve;
  readonly isNew: boolean;
  readonly isClosing: boolean;
  /** Wanted in addition. */
  readonly wanted: Amounts;
  /** What stays of what is left. */
  readonly keep: Amounts;
  /** Draws that the database was told. */
  toldCount?: number;
}

const UNIT = decimal("1");
const NONE: Amounts = { money: 0n, units: 0n };

/**
 * The reserves of this node. They are renewed, topped up and returned in the background: a request draws, or it
 * cannot and is held on its own. It never waits here.
 */
export class Reserves implements AsyncDisposable {
  readonly #entries = new Map<string, Entry>();
  readonly #timing: ReserveTiming;
  readonly #now: () => number;
  readonly #ticks;
  #renewing: Promise<void> | null = null;
  #isClosed = false;

  constructor(private readonly sql: Queries, private readonly options: ReservesOptions) {
    this.#timing = { ...RESERVE_TIMING, ...options.timing };
    this.#now = options.now ?? (() => performance.now());
    options.onRecall((account) => this.#recall(account));
    this.#ticks = periodic(() => this.renew(), {
      intervalMs: this.#timing.tickMs,
      onError: (error) => this.#report(error),
    });
  }

  /** Draws the maximum price of a request; null if it must be held on its own. */
  draw(account: string, quote: Quote, scale: number): Draw | null {
    if (quote.kind === null || this.#isClosed) return null;
    const now = this.#now();
    const entry = this.#entryOf(account, quote.kind);
    const draw = entry.reserve?.draw(quote, scale, now) ?? null;
    entry.demand.begin(worstOf(quote), draw !== null, now);
    if (this.#isLow(entry, now)) this.#renewSoon();
    return draw;
  }

  /** The request of a draw is over. `taken`: from each of its allocations; null if that is not known. */
  end(draw: Draw, quote: Quote, taken: readonly bigint[] | null, charge: Charge | null): void {
    const spent = charge === null
      ? NONE
      : { money: roundHalfUp(charge.amount, SCALE), units: charge.units * UNIT };
    this.#entries.get(draw.reserve.account)?.demand.end(worstOf(quote), spent, this.#now());
    if (taken === null) this.abandon(draw.reserve);
    else draw.reserve.end(draw, taken);
  }

  ageMs({ drawnAt }: Draw): number {
    return Math.round(this.#now() - drawnAt);
  }

  /** Draws no more from it; the end of its lease returns it. */
  abandon(reserve: Reserve): void {
    reserve.isAbandoned = true;
    const entry = this.#entries.get(reserve.account);
    if (entry?.reserve === reserve) entry.reserve = null;
  }

  /** Renews, tops up and returns what is due. One statement at a time. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renewDue().finally(() => this.#renewing = null);
    return this.#renewing;
  }

  #renewSoon(): void {
    if (this.#renewing !== null) return;
    this.#renewQuietly();
  }

  /** What fails is tried again by the next tick. */
  #renewQuietly(): Promise<void> {
    return this.renew().catch((error) => this.#report(error));
  }

  #report(error: unknown): void {
    // Other parts log database outages already.
    if (!isStorageDown(error)) this.options.log.error("reserves not renewed", { error });
  }

  #recall(account: string): void {
    const entry = this.#entries.get(account);
    if (entry === undefined) return;
    entry.pausedUntil = this.#now() + this.#timing.recallMs;
    if (entry.reserve === null) return;
    entry.isRecalled = true;
    void this.#renewQuietly().then(() => {
      // The statement that was under way may have begun before the recall.
      if (entry.isRecalled) this.#renewSoon();
    });
  }

  #entryOf(account: string, kind: UsageKind): Entry {
    let entry = this.#entries.get(account);
    if (entry === undefined) {
      const demand = new ReserveDemand();
      entry = {
        account,
        kind,
        demand,
        reserve: null,
        renewAt: 0,
        pausedUntil: 0,
        isRecalled: false,
      };
      this.#entries.set(account, entry);
    }
    return entry;
  }

  #isLow({ reserve, demand, pausedUntil }: Entry, now: number): boolean {
    if (now < pausedUntil) return false;
    if (reserve === null) return demand.isWorthReserve(now);
    const { left } = reserve;
    const target = demand.target(now);
    const isMoney = reserve.held.units === 0n;
    return isMoney ? left.money < target.money / 2n : left.units < target.units / 2n;
  }

  async #renewDue(): Promise<void> {
    const now = this.#now();
    const due: Renewal[] = [];
    for (const entry of this.#entries.values()) {
      const renewal = this.#renewalOf(entry, now);
      if (renewal !== null) due.push(renewal);
    }
    if (due.length > 0) await this.#send(due, now);
  }

  #renewalOf(entry: Entry, now: number): Renewal | null {
    const { reserve, demand, account, kind } = entry;
    const isIdle = now - demand.lastAt >= this.#timing.idleMs;
    if (reserve === null) {
      if (isIdle && now >= entry.pausedUntil) this.#entries.delete(account);
      if (isIdle || !this.#isLow(entry, now)) return null;
      const wanted = demand.target(now);
      const made = new Reserve(account, kind);
      return { entry, reserve: made, isNew: true, isClosing: false, wanted, keep: NONE };
    }
    if (entry.isRecalled || (isIdle && reserve.draws.size === 0)) {
      return { entry, reserve, isNew: false, isClosing: true, wanted: NONE, keep: NONE };
    }
    const isLow = this.#isLow(entry, now);
    if (!isLow && now < entry.renewAt) return null;
    const target = demand.target(now);
    const keep = { money: 2n * target.money, units: 2n * target.units };
    const wanted = isLow ? lessOf(target, reserve.left) : NONE;
    return { entry, reserve, isNew: false, isClosing: false, wanted, keep };
  }

  async #send(due: readonly Renewal[], now: number): Promise<void> {
    const requests = due.map((renewal, n) => this.#requestOf(renewal, n, now));
    try {
      const rows = await this.sql<Renewed[]>`
        select * from ledger_renew_reserves(${JSON.stringify(requests)}::text::json)`;
      for (const row of rows) this.#apply(due[row.n]!, row, now);
    } catch (error) {
      // It may have been executed: only the database knows what these reserves have now.
      for (const { reserve } of due) this.abandon(reserve);
      throw error;
    }
  }

  #requestOf(renewal: Renewal, n: number, now: number) {
    const { entry, reserve, isNew, isClosing, wanted, keep } = renewal;
    entry.isRecalled = false;
    // What is needed elsewhere must be known exactly.
    const minAgeMs = isClosing ? 0 : this.#timing.toldMs;
    const { allocations, returned, drawn } = reserve.tell({ keep, now, minAgeMs });
    renewal.toldCount = reserve.toldCount;
    const worst = entry.demand.worst(now);
    return {
      n,
      id: reserve.id,
      account_id: entry.account,
      node_id: this.options.nodeId,
      is_new: isNew,
      is_closing: isClosing,
      kind: entry.kind,
      money: formatDecimal(wanted.money),
      units: String(wanted.units / UNIT),
      worst_money: formatDecimal(worst.money),
      worst_units: String(worst.units / UNIT),
      lease_ms: this.#timing.leaseMs,
      allocations,
      returned: returned.map((amount) => formatDecimal(amount)),
      drawn: drawn.map((amount) => formatDecimal(amount)),
    };
  }

  #apply(renewal: Renewal, renewed: Renewed, sentAt: number): void {
    const { entry, reserve, isNew, wanted, toldCount = 0 } = renewal;
    if (renewed.outcome === "gone") return this.abandon(reserve);
    for (const [at, bucket] of renewed.allocations.entries()) {
      const endsInMs = renewed.ends_in_ms[at] ?? Infinity;
      reserve.add(bucket, decimal(renewed.added[at]!), sentAt + endsInMs);
    }
    const { leaseMs, marginMs, renewMs, recallMs } = this.#timing;
    reserve.drawableUntil = sentAt + leaseMs - marginMs;
    // A draw that ended meanwhile would be shown as frozen until the next time.
    entry.renewAt = reserve.toldCount < toldCount ? sentAt : sentAt + renewMs;
    const { held } = reserve;
    const hasNone = held.money === 0n && held.units === 0n;
    // An account that is near its end is asked again a little later, not with every request.
    if (renewed.added.length === 0 && wanted !== NONE) entry.pausedUntil = sentAt + recallMs;
    if (isNew && !hasNone && !this.#isClosed) entry.reserve = reserve;
    if (hasNone && entry.reserve === reserve) entry.reserve = null;
  }

  /** Returns everything that no request has drawn. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#ticks[Symbol.asyncDispose]();
    await this.#renewing?.catch((error) => this.#report(error));
    const now = this.#now();
    const closing: Renewal[] = [];
    for (const entry of this.#entries.values()) {
      const { reserve } = entry;
      if (reserve === null) continue;
      closing.push({ entry, reserve, isNew: false, isClosing: true, wanted: NONE, keep: NONE });
    }
    if (closing.length === 0) return;
    await this.#send(closing, now).catch((error) => this.#report(error));
  }
}

function worstOf({ amount, units }: Quote): Amounts {
  return { money: roundUp(amount, SCALE), units: units * UNIT };
}

function lessOf(target: Amounts, left: Amounts): Amounts {
  const positive = (amount: bigint) => amount > 0n ? amount : 0n;
  return {
    money: positive(target.money - left.money),
    units: positive(target.units - left.units),
  };
}
