import { decimal, roundUp } from "../../lib/money.ts";
import { periodic } from "../../lib/timers.ts";
import type { UsageKind } from "../../model_types/usage.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import type { Quote } from "../pricing/quote.ts";
import { type Draw, Reserve } from "./reserve.ts";
import { type Amounts, isNone, lessOf, NONE, ReserveDemand } from "./reserve_demand.ts";
import { type Renewal, type Renewed, sendRenewals, writeRenewal } from "./reserve_renewal.ts";
import { RESERVE_TIMING, type ReserveTiming } from "./reserve_timing.ts";

export interface ReservesOptions {
  nodeId: string;
  /** Calls the listener with an account whose reserves are needed elsewhere, or that may not draw any more. */
  onRecall(listener: (account: string) => void): void;
  log: Pick<Log, "error">;
  timing?: Partial<ReserveTiming> | undefined;
  now?: () => number;
}

/** What an account needs on this node. */
interface Entry {
  readonly kind: UsageKind;
  readonly demand: ReserveDemand;
  /** Requests draw from it, as soon as it has something. */
  reserve: Reserve | null;
  /** Half of what the reserve should have, when that was last computed. */
  lowMark: Amounts;
  /** Nothing is reserved until then, because the account has too little or needs it elsewhere. */
  pausedUntil: number;
}

const UNIT = decimal("1");
/** The accounts of one statement are locked together. */
const RENEWALS_MAX = 64;

/**
 * The reserves of this node. They are renewed, topped up and returned in the background: a request draws, or it
 * cannot and is held on its own. It never waits here.
 */
export class Reserves implements AsyncDisposable {
  readonly #entries = new Map<string, Entry>();
  /** Also those that are closing. */
  readonly #reserves = new Set<Reserve>();
  readonly #timing: ReserveTiming;
  readonly #now: () => number;
  readonly #ticks;
  #renewing: Promise<void> | null = null;
  /** Accounts to look at; a tick looks at all of them. */
  #due = new Set<string>();
  #isAllDue = false;
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
    if (entry.kind !== quote.kind) return null;
    const { moveMs } = this.#timing;
    const worst = { money: roundUp(quote.amount, scale), units: quote.units * UNIT };
    const { demand, reserve, lowMark } = entry;
    const draw = reserve?.draw(quote, { worst, scale, now, moveMs }) ?? null;
    demand.begin(worst, draw !== null, now);
    // Computed as often as something is renewed: a request that finds enough has little to do.
    const mayBeLow = draw === null || reserve!.isBelow(lowMark);
    if (mayBeLow && this.#isLow(entry, now)) this.#renewSoon(account);
    return draw;
  }

  /** The request of a draw is over, or has a hold; see `Reserve.end`. */
  end(draw: Draw, taken: readonly bigint[] | null): void {
    const { reserve } = draw;
    reserve.end(draw, taken, this.#now());
    // The database still has what was given up.
    if (taken === null) reserve.renewAt = 0;
    if (reserve.isClosing && this.#reserves.has(reserve)) this.#renewSoon(reserve.account);
  }

  /** Gives requests of a key holds of their own. */
  async moveDraws(key: string): Promise<void> {
    const draws = [...this.#reserves].flatMap(({ draws }) => [...draws]);
    const own = draws.filter((draw) => draw.key === key && !draw.isEnding);
    await Promise.all(own.map((draw) => draw.move()));
  }

  /** Renews, tops up and returns what is due. One statement at a time. */
  renew(): Promise<void> {
    this.#isAllDue = true;
    return this.#start();
  }

  #renewSoon(account: string): void {
    this.#due.add(account);
    this.#start().catch((error) => this.#report(error));
  }

  #start(): Promise<void> {
    this.#renewing ??= this.#renewUntilDone().finally(() => this.#renewing = null);
    return this.#renewing;
  }

  async #renewUntilDone(): Promise<void> {
    while ((this.#isAllDue || this.#due.size > 0) && !this.#isClosed) {
      const accounts = this.#isAllDue ? null : this.#due;
      this.#isAllDue = false;
      this.#due = new Set();
      await this.#renewDue(accounts);
    }
  }

  #report(error: unknown): void {
    // Other parts log database outages already.
    if (!isStorageDown(error)) this.options.log.error("reserves not renewed", { error });
  }

  #recall(account: string): void {
    const entry = this.#entries.get(account);
    if (entry === undefined) return;
    this.#close(entry);
    this.#renewSoon(account);
  }

  /** Returns what no request has drawn, and reserves nothing for a while. */
  #close(entry: Entry): void {
    entry.pausedUntil = this.#now() + this.#timing.recallMs;
    if (entry.reserve === null) return;
    entry.reserve.isClosing = true;
    entry.reserve = null;
  }

  #entryOf(account: string, kind: UsageKind): Entry {
    let entry = this.#entries.get(account);
    if (entry === undefined) {
      entry = {
        kind,
        demand: new ReserveDemand(this.#timing.requestsMin),
        reserve: null,
        lowMark: NONE,
        pausedUntil: 0,
      };
      this.#entries.set(account, entry);
    }
    return entry;
  }

  #isLow(entry: Entry, now: number): boolean {
    const { reserve, demand, pausedUntil } = entry;
    if (now < pausedUntil) return false;
    if (reserve === null) return demand.isWorthReserve(now);
    const { money, units } = demand.target(now);
    entry.lowMark = { money: money / 2n, units: units / 2n };
    return reserve.isBelow(entry.lowMark);
  }

  /** Null: of all accounts. */
  async #renewDue(accounts: ReadonlySet<string> | null): Promise<void> {
    const now = this.#now();
    for (const account of accounts ?? this.#entries.keys()) this.#update(account, now);
    const due: Renewal[] = [];
    for (const reserve of this.#reserves) {
      if (accounts !== null && !accounts.has(reserve.account)) continue;
      this.#moveLasting(reserve, now);
      const renewal = this.#renewalOf(reserve, now);
      if (renewal !== null) due.push(renewal);
    }
    await this.#send(due, now);
  }

  /** Begins a reserve, or ends one that is idle. */
  #update(account: string, now: number): void {
    const entry = this.#entries.get(account);
    if (entry === undefined) return;
    const { demand, reserve, kind } = entry;
    const isIdle = now - demand.lastAt >= this.#timing.idleMs;
    if (reserve !== null) {
      if (!isIdle) return;
      this.#close(entry);
      entry.pausedUntil = 0;
    } else if (isIdle) {
      if (now >= entry.pausedUntil) this.#entries.delete(account);
    } else if (this.#isLow(entry, now)) {
      entry.reserve = new Reserve(account, kind, demand);
      this.#reserves.add(entry.reserve);
    }
  }

  /** A request that lasts must not depend on this node's lease. */
  #moveLasting({ draws }: Reserve, now: number): void {
    for (const draw of draws) {
      if (draw.isEnding || now < draw.moveAt) continue;
      draw.moveAt = now + this.#timing.moveMs;
      void draw.move();
    }
  }

  #renewalOf(reserve: Reserve, now: number): Renewal | null {
    const isDue = now >= reserve.renewAt;
    const { left, held } = reserve;
    if (reserve.isClosing) {
      const isOver = isNone(held) || !isNone(left);
      return isDue || isOver || !reserve.hasToldAll ? { reserve, wanted: NONE, keep: NONE } : null;
    }
    const isLow = this.#isLow(this.#entries.get(reserve.account)!, now);
    if (!isLow && !isDue) return null;
    const target = reserve.demand.target(now);
    const keep = { money: 2n * target.money, units: 2n * target.units };
    return { reserve, wanted: isLow ? lessOf(target, left) : NONE, keep };
  }

  async #send(due: readonly Renewal[], now: number): Promise<void> {
    const { nodeId } = this.options;
    const sent: Promise<void>[] = [];
    for (let from = 0; from < due.length; from += RENEWALS_MAX) {
      const part = due.slice(from, from + RENEWALS_MAX);
      sent.push(this.#sendPart(part, { nodeId, now, timing: this.#timing }));
    }
    await Promise.all(sent);
  }

  async #sendPart(
    part: readonly Renewal[],
    options: Parameters<typeof writeRenewal>[2],
  ): Promise<void> {
    const requests = part.map((renewal, n) => writeRenewal(renewal, n, options));
    const toldCounts = part.map(({ reserve }) => reserve.toldCount);
    const rows = await sendRenewals(this.sql, requests, (error) => this.#report(error));
    for (const row of rows) {
      const { reserve, wanted } = part[row.n]!;
      const request = requests[row.n]!;
      this.#apply(reserve, row, options.now);
      if (request.is_closing) reserve.hasToldAll = true;
      const keepsNothing = request.kept.every((amount) => Number(amount) === 0);
      if (keepsNothing && row.added.length === 0) this.#forget(reserve);
      if (wanted !== NONE) this.#pauseIfShort(reserve.account, row, options.now);
      // A draw that ended meanwhile would be shown as frozen until the next time.
      if (reserve.toldCount < toldCounts[row.n]!) reserve.renewAt = 0;
    }
  }

  #apply(reserve: Reserve, renewed: Renewed, sentAt: number): void {
    const { outcome } = renewed;
    if (outcome === "late") return;
    if (outcome === "gone") {
      this.#forget(reserve);
      // Nothing is held for them any more.
      for (const draw of reserve.draws) if (!draw.isEnding) void draw.move();
      return;
    }
    for (const [at, bucket] of renewed.allocations.entries()) {
      const endsInMs = renewed.ends_in_ms[at] ?? Infinity;
      reserve.add(bucket, decimal(renewed.added[at]!), sentAt + endsInMs);
    }
    const { leaseMs, marginMs, renewMs } = this.#timing;
    reserve.isStored = true;
    reserve.drawableUntil = sentAt + leaseMs - marginMs;
    reserve.renewAt = sentAt + renewMs;
    if (outcome === "recalled") this.#recall(reserve.account);
  }

  #forget(reserve: Reserve): void {
    reserve.isClosing = true;
    this.#reserves.delete(reserve);
    const entry = this.#entries.get(reserve.account);
    if (entry?.reserve === reserve) entry.reserve = null;
  }

  /** An account that is near its end is asked again a little later, not with every request. */
  #pauseIfShort(account: string, { added }: Renewed, sentAt: number): void {
    const entry = this.#entries.get(account);
    if (entry === undefined) return;
    const { recallMs, tickMs } = this.#timing;
    const ms = added.length === 0 ? recallMs : this.#isLow(entry, sentAt) ? tickMs : 0;
    entry.pausedUntil = Math.max(entry.pausedUntil, sentAt + ms);
  }

  /** Returns everything that no request has drawn. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#ticks[Symbol.asyncDispose]();
    await this.#renewing?.catch((error) => this.#report(error));
    for (const entry of this.#entries.values()) this.#close(entry);
    const closing = [...this.#reserves].map((reserve) => ({ reserve, wanted: NONE, keep: NONE }));
    await this.#send(closing, this.#now());
  }
}
