/**
 * The ledger as a few lines of arithmetic: no database, no batches, no locks. What the real one does must
 * come to the same.
 */
import type { Fraction } from "../../src/lib/money.ts";
import { formatDecimal } from "../../src/lib/money.ts";
import type { Balance } from "../../src/domain/ledger/balance.ts";
import type { HoldState } from "../../src/domain/ledger/item.ts";
import { USAGE_KINDS, type UsageKind } from "../../src/model_types/usage.ts";

const ONE = 10n ** 12n;
const CARRY_ONE = 10n ** 18n;

interface Bucket {
  source: "quota" | "gift" | "cash";
  unit: "money" | UsageKind;
  /** Money in units of 10⁻¹², quotas as they are counted. */
  remaining: bigint;
  frozen: bigint;
  endsAt: number;
  /** For gifts of one expiry: the older first. */
  number: number;
}

interface Account {
  buckets: Bucket[];
  /** Exact charges less what was charged, in units of 10⁻¹⁸. */
  carry: bigint;
  plan: string;
  planEndsAt: number;
  planBegan: number;
  month: number;
  booked: Map<string, string>;
}

interface Allocation {
  bucket: Bucket;
  held: bigint;
  taken: bigint;
}

export interface Hold {
  account: string;
  identity: string;
  state: HoldState;
  scale: number;
  kind: UsageKind | null;
  isBeyond: boolean;
  allocations: Allocation[];
  shortfall: bigint;
  expiresAt: number;
  checkpoint: { amount: Fraction; units: bigint } | null;
  /** Resolved by the sweeper: a settlement may still amend it. */
  isSwept: boolean;
  /** What its settlement added to the account's carry. */
  carried: bigint;
}

export type Quotas = Record<UsageKind, number>;

export class LedgerModel {
  now: number;
  readonly holds = new Map<string, Hold>();
  readonly accounts = new Map<string, Account>();
  #gifts = 0;

  constructor(now: number, readonly plans: Map<string, Quotas>, readonly scale: number) {
    this.now = now;
  }

  open(id: string): void {
    const cash: Bucket = {
      source: "cash",
      unit: "money",
      remaining: 0n,
      frozen: 0n,
      endsAt: Infinity,
      number: 0,
    };
    const account: Account = {
      buckets: [cash],
      carry: 0n,
      plan: "free",
      planEndsAt: Infinity,
      planBegan: this.now,
      month: -1,
      booked: new Map(),
    };
    this.accounts.set(id, account);
    this.#turn(account);
  }

  /** Books once per reference; false when the reference stands for something else. */
  credit(
    id: string,
    { kind, amount, reference, endsAt }: {
      kind: "cash" | "gift";
      amount: bigint;
      reference: string;
      endsAt: number;
    },
  ): boolean {
    const account = this.accounts.get(id)!;
    const meaning = `${kind} ${amount} ${endsAt}`;
    const booked = account.booked.get(`credit ${reference}`);
    if (booked !== undefined) return booked === meaning;
    account.booked.set(`credit ${reference}`, meaning);
    if (kind === "cash") this.#cash(account).remaining += amount;
    else {
      const number = ++this.#gifts;
      account.buckets.push({
        source: "gift",
        unit: "money",
        remaining: amount,
        frozen: 0n,
        endsAt,
        number,
      });
    }
    return true;
  }

  adjust(id: string, amount: bigint, reference: string): "booked" | "conflict" | "insufficient" {
    const account = this.accounts.get(id)!;
    const booked = account.booked.get(`adjust ${reference}`);
    if (booked !== undefined) return booked === String(amount) ? "booked" : "conflict";
    const cash = this.#cash(account);
    if (cash.remaining - cash.frozen + amount < 0n) return "insufficient";
    cash.remaining += amount;
    account.booked.set(`adjust ${reference}`, String(amount));
    return "booked";
  }

  setPlan(id: string, plan: string, endsAt: number): void {
    const account = this.accounts.get(id)!;
    this.#turn(account);
    if (account.plan === plan) {
      account.planEndsAt = endsAt;
      const monthEnd = Math.min(addMonths(account.planBegan, account.month + 1), endsAt);
      for (const bucket of this.#running(account)) bucket.endsAt = monthEnd;
    } else {
      for (const bucket of this.#running(account)) this.#end(bucket, this.now);
      Object.assign(account, { plan, planEndsAt: endsAt, planBegan: this.now, month: -1 });
      this.#turn(account);
    }
  }

  hold(
    id: string,
    accountId: string,
    { kind, amount, units, ttlSeconds, isBeyond = false }: {
      kind: UsageKind | null;
      amount: Fraction;
      units: bigint;
      ttlSeconds: number;
      isBeyond?: boolean;
    },
  ): "held" | "already" | "conflict" | "insufficient" {
    const account = this.accounts.get(accountId)!;
    this.#turn(account);
    const identity = `${accountId} ${kind} ${up(amount, this.scale)} ${units}`;
    const before = this.holds.get(id);
    if (before !== undefined) return before.identity === identity ? "already" : "conflict";

    const usable = account.buckets.filter(({ endsAt }) => endsAt > this.now).sort(inOrderOfUse);
    const allocations: Allocation[] = [];
    const reserve = (bucket: Bucket, wanted: bigint): bigint => {
      const held = least(bucket.remaining - bucket.frozen, wanted);
      if (held > 0n) allocations.push({ bucket, held, taken: 0n });
      return held;
    };
    const isFree = amount.num === 0n;
    let covered = 0n;
    for (const bucket of usable) {
      if (bucket.unit === kind && !isFree) covered += reserve(bucket, units - covered);
    }
    let owed = up(share(amount, units - covered, units), this.scale);
    for (const bucket of usable) if (bucket.unit === "money") owed -= reserve(bucket, owed);
    if (owed > 0n) return "insufficient";
    for (const { bucket, held } of allocations) bucket.frozen += held;
    const expiresAt = this.now + ttlSeconds * 1000;
    const { scale } = this;
    this.holds.set(id, {
      account: accountId,
      identity,
      state: "open",
      scale,
      kind,
      isBeyond,
      allocations,
      shortfall: 0n,
      expiresAt,
      checkpoint: null,
      isSwept: false,
      carried: 0n,
    });
    return "held";
  }

  /** Null where there is no such hold. */
  resolve(id: string, to: "settled" | "released", amount: Fraction, units: bigint): Hold | null {
    const hold = this.holds.get(id);
    if (hold === undefined) return null;
    this.#turn(this.accounts.get(hold.account)!);
    if (hold.state === "open") this.#resolve(hold, to, amount, units);
    else if (hold.isSwept && to === "settled") this.#amend(hold, amount, units);
    return hold;
  }

  checkpoint(id: string, amount: Fraction, units: bigint): boolean {
    const hold = this.holds.get(id);
    if (hold === undefined) return false;
    this.#turn(this.accounts.get(hold.account)!);
    if (hold.state === "open") hold.checkpoint = { amount, units };
    return true;
  }

  sweep(): void {
    for (const account of this.accounts.values()) this.#turn(account);
    // In the order of their ends: what one takes beyond its hold, the next cannot.
    const inOrder = [...this.holds].sort(([a, x], [b, y]) =>
      x.expiresAt - y.expiresAt || (a < b ? -1 : 1)
    );
    for (const [, hold] of inOrder) {
      if (hold.state !== "open" || hold.expiresAt > this.now) continue;
      if (hold.checkpoint === null) this.#resolve(hold, "expired", { num: 0n, den: 1n }, 0n);
      else this.#resolve(hold, "settled", hold.checkpoint.amount, hold.checkpoint.units);
      hold.isSwept = true;
    }
  }

  balance(id: string): Balance {
    const account = this.accounts.get(id)!;
    this.#turn(account);
    let [cash, gift, frozen] = [0n, 0n, 0n];
    const quotas: Quotas = { text: 0, image: 0, video: 0 };
    for (const bucket of account.buckets) {
      const remaining = bucket.endsAt <= this.now ? bucket.frozen : bucket.remaining;
      if (bucket.unit !== "money") quotas[bucket.unit] += Number(remaining - bucket.frozen);
      else {
        frozen += bucket.frozen;
        if (bucket.source === "cash") cash += remaining;
        else gift += remaining;
      }
    }
    const { plan, planEndsAt } = account;
    return {
      object: "balance",
      currency: "USD",
      available_balance: formatDecimal(cash + gift - frozen),
      frozen_balance: formatDecimal(frozen),
      cash_balance: formatDecimal(cash),
      gift_balance: formatDecimal(gift),
      quotas,
      plan: {
        name: plan,
        expires_at: planEndsAt === Infinity ? null : new Date(planEndsAt).toISOString(),
      },
    };
  }

  #resolve(hold: Hold, state: HoldState, amount: Fraction, units: bigint): void {
    hold.state = state;
    const account = this.accounts.get(hold.account)!;
    const isOwing = state === "settled" && amount.num > 0n;
    const held = (isMoney: boolean) =>
      hold.allocations.reduce(
        (sum, allocation) =>
          (allocation.bucket.unit === "money") === isMoney ? sum + allocation.held : sum,
        0n,
      );
    let covered = isOwing ? least(held(false), units) : 0n;
    let quota = covered;
    const more: Allocation[] = [];
    const take = (bucket: Bucket, wanted: bigint): bigint => {
      const taken = least(bucket.remaining - bucket.frozen, wanted);
      if (taken > 0n) more.push({ bucket, held: 0n, taken });
      return taken;
    };
    const usable = hold.isBeyond && isOwing
      ? account.buckets.filter(({ endsAt }) => endsAt > this.now).sort(inOrderOfUse)
      : [];
    for (const bucket of usable) {
      if (bucket.unit !== hold.kind) continue;
      // Slow and obviously correct: adds a unit of quota at a time until the held money pays for the rest.
      let wanted = 0n;
      while (
        covered + wanted < units &&
        isAbove(share(amount, units - covered - wanted, units), held(true))
      ) wanted++;
      covered += take(bucket, wanted);
    }
    const due = isOwing ? share(amount, units - covered, units) : { num: 0n, den: 1n };
    const carry = account.carry;
    let owed = this.#charge(account, due, held(true), hold.scale);
    hold.carried = account.carry - carry;
    let beyond = owed - held(true);
    for (const bucket of usable) {
      if (bucket.unit === "money" && beyond > 0n) beyond -= take(bucket, beyond);
    }
    for (const allocation of hold.allocations) {
      allocation.taken = least(allocation.held, allocation.bucket.unit === "money" ? owed : quota);
      if (allocation.bucket.unit === "money") owed -= allocation.taken;
      else quota -= allocation.taken;
      allocation.bucket.frozen -= allocation.held;
      allocation.bucket.remaining -= allocation.bucket.endsAt <= this.now
        ? allocation.held
        : allocation.taken;
    }
    for (const { bucket, taken } of more) {
      bucket.remaining -= taken;
      if (bucket.unit === "money") owed -= taken;
    }
    hold.allocations.push(...more);
    hold.shortfall = owed;
  }

  /** Settles what the sweeper has resolved: everything is given back, and taken anew as far as it is there. */
  #amend(hold: Hold, amount: Fraction, units: bigint): void {
    hold.isSwept = false;
    hold.state = "settled";
    const account = this.accounts.get(hold.account)!;
    account.carry -= hold.carried;
    // Of what has ended meanwhile, only what was taken before can be taken again.
    const kept = new Map<Bucket, bigint>();
    for (const { bucket, taken } of hold.allocations) {
      if (bucket.endsAt <= this.now) kept.set(bucket, (kept.get(bucket) ?? 0n) + taken);
      else bucket.remaining += taken;
    }
    const take = (bucket: Bucket, wanted: bigint): bigint => {
      const isOver = bucket.endsAt <= this.now;
      const taken = least(
        isOver ? kept.get(bucket) ?? 0n : bucket.remaining - bucket.frozen,
        wanted,
      );
      if (isOver) kept.set(bucket, (kept.get(bucket) ?? 0n) - taken);
      else bucket.remaining -= taken;
      return taken;
    };
    const own = hold.allocations.filter(({ held }) => held > 0n);
    const held = own.reduce(
      (sum, { bucket, held }) => bucket.unit === "money" ? sum + held : sum,
      0n,
    );
    const usable = account.buckets.filter(({ endsAt }) => endsAt > this.now).sort(inOrderOfUse);
    const more: Allocation[] = [];
    const takeMore = (bucket: Bucket, wanted: bigint): bigint => {
      const taken = take(bucket, wanted);
      if (taken > 0n) more.push({ bucket, held: 0n, taken });
      return taken;
    };
    const isOwing = amount.num > 0n;
    let covered = 0n;
    for (const allocation of own) {
      if (allocation.bucket.unit === "money") continue;
      allocation.taken = isOwing
        ? take(allocation.bucket, least(allocation.held, units - covered))
        : 0n;
      covered += allocation.taken;
    }
    for (const bucket of hold.isBeyond && isOwing ? usable : []) {
      if (bucket.unit !== hold.kind) continue;
      let wanted = 0n;
      while (
        covered + wanted < units && isAbove(share(amount, units - covered - wanted, units), held)
      ) wanted++;
      covered += takeMore(bucket, wanted);
    }
    const due = isOwing ? share(amount, units - covered, units) : { num: 0n, den: 1n };
    let owed = this.#charge(account, due, held, hold.scale);
    // Without leave to go beyond the hold, its amount is the limit that is taken, from wherever.
    let limit = hold.isBeyond ? owed : least(owed, held);
    const pay = (taken: bigint): bigint => {
      owed -= taken;
      limit -= taken;
      return taken;
    };
    for (const allocation of own) {
      if (allocation.bucket.unit === "money") {
        allocation.taken = pay(take(allocation.bucket, least(allocation.held, limit)));
      }
    }
    for (const bucket of usable) {
      if (bucket.unit === "money" && limit > 0n) pay(takeMore(bucket, limit));
    }
    hold.allocations = [...own, ...more];
    hold.shortfall = owed;
  }

  /** What a due comes to in whole units of the currency, with what earlier ones left to charge. */
  #charge(account: Account, due: Fraction, held: bigint, scale: number): bigint {
    if (due.num === 0n) return 0n;
    const alone = halfUp(due, scale);
    const withCarry = {
      num: due.num * CARRY_ONE + account.carry * due.den,
      den: due.den * CARRY_ONE,
    };
    const together = withCarry.num < 0n ? 0n : halfUp(withCarry, scale);
    const limit = alone > held ? alone : held;
    const charged = account.carry === 0n ? alone : least(together, limit);
    account.carry += (due.num * ONE - charged * due.den) * (CARRY_ONE / ONE) / due.den;
    return charged;
  }

  /** What time has done to an account's plan. Doing it early or late makes no difference. */
  #turn(account: Account): void {
    if (account.planEndsAt <= this.now) {
      for (const bucket of this.#running(account)) this.#end(bucket, account.planEndsAt);
      const planBegan = account.planEndsAt;
      Object.assign(account, { plan: "free", planBegan, planEndsAt: Infinity, month: -1 });
    }
    let month = Math.max(account.month, 0);
    while (addMonths(account.planBegan, month + 1) <= this.now) month++;
    if (month === account.month) return;
    account.month = month;
    const endsAt = Math.min(addMonths(account.planBegan, month + 1), account.planEndsAt);
    const quotas = this.plans.get(account.plan) ?? { text: 0, image: 0, video: 0 };
    for (const unit of USAGE_KINDS) {
      const remaining = BigInt(quotas[unit]);
      if (remaining > 0n) {
        account.buckets.push({ source: "quota", unit, remaining, frozen: 0n, endsAt, number: 0 });
      }
    }
  }

  #running(account: Account): Bucket[] {
    return account.buckets.filter(({ source, endsAt }) => source === "quota" && endsAt > this.now);
  }

  #end(bucket: Bucket, at: number): void {
    bucket.endsAt = at;
    bucket.remaining = bucket.frozen;
  }

  #cash({ buckets }: Account): Bucket {
    return buckets.find(({ source }) => source === "cash")!;
  }
}

const ORDER = ["quota", "gift", "cash"];

function inOrderOfUse(a: Bucket, b: Bucket): number {
  const bySource = ORDER.indexOf(a.source) - ORDER.indexOf(b.source);
  if (bySource !== 0) return bySource;
  return a.endsAt === b.endsAt ? a.number - b.number : a.endsAt < b.endsAt ? -1 : 1;
}

function share({ num, den }: Fraction, part: bigint, whole: bigint): Fraction {
  return whole === 0n ? { num, den } : { num: num * part, den: den * whole };
}

/** By comparison, not by formula: the least multiple of the step that is not below. */
function up({ num, den }: Fraction, scale: number): bigint {
  const step = 10n ** BigInt(12 - scale);
  const below = num * ONE / den / step * step;
  return below * den === num * ONE ? below : below + step;
}

function halfUp({ num, den }: Fraction, scale: number): bigint {
  const step = 10n ** BigInt(12 - scale);
  const below = num * ONE / den / step * step;
  return 2n * (num * ONE - below * den) >= step * den ? below + step : below;
}

/** Whether an exact amount is more than so much money. */
function isAbove({ num, den }: Fraction, money: bigint): boolean {
  return num * ONE > money * den;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The same day and time some months later; the last day of a shorter month. */
function addMonths(moment: number, months: number): number {
  const date = new Date(moment);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(date.getUTCDate(), lastDay);
  return Date.UTC(year, month, day) + moment % 86_400_000;
}
