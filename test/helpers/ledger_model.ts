/**
 * The ledger as a few lines of arithmetic: no database, no batches, no locks. What the real one does must
 * come to the same.
 */
import type { Fraction } from "../../src/lib/money.ts";
import { formatDecimal } from "../../src/lib/money.ts";
import type { Balance } from "../../src/domain/ledger/balance.ts";
import type { HoldState } from "../../src/domain/ledger/item.ts";
import { USAGE_KINDS, type UsageKind } from "../../src/domain/pricing/usage.ts";

const ONE = 10n ** 12n;
const CARRY_ONE = 10n ** 18n;

interface Pot {
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
  pots: Pot[];
  /** Exact charges less what was charged, in units of 10⁻¹⁸. */
  carry: bigint;
  plan: string;
  planEndsAt: number;
  planBegan: number;
  month: number;
  booked: Map<string, string>;
}

interface Leg {
  pot: Pot;
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
  legs: Leg[];
  shortfall: bigint;
  expiresAt: number;
  noted: { amount: Fraction; units: bigint } | null;
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
    const cash: Pot = {
      source: "cash",
      unit: "money",
      remaining: 0n,
      frozen: 0n,
      endsAt: Infinity,
      number: 0,
    };
    const account: Account = {
      pots: [cash],
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
    kind: "cash" | "gift",
    amount: bigint,
    reference: string,
    endsAt: number,
  ): boolean {
    const account = this.accounts.get(id)!;
    const meaning = `${kind} ${amount} ${endsAt}`;
    const booked = account.booked.get(`credit ${reference}`);
    if (booked !== undefined) return booked === meaning;
    account.booked.set(`credit ${reference}`, meaning);
    if (kind === "cash") this.#cash(account).remaining += amount;
    else {
      const number = ++this.#gifts;
      account.pots.push({
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
      for (const pot of this.#running(account)) pot.endsAt = monthEnd;
    } else {
      for (const pot of this.#running(account)) this.#end(pot, this.now);
      Object.assign(account, { plan, planEndsAt: endsAt, planBegan: this.now, month: -1 });
      this.#turn(account);
    }
  }

  hold(
    id: string,
    accountId: string,
    kind: UsageKind | null,
    amount: Fraction,
    units: bigint,
    ttlSeconds: number,
    isBeyond = false,
  ): "held" | "already" | "conflict" | "insufficient" {
    const account = this.accounts.get(accountId)!;
    this.#turn(account);
    const identity = `${accountId} ${kind} ${up(amount, this.scale)} ${units}`;
    const before = this.holds.get(id);
    if (before !== undefined) return before.identity === identity ? "already" : "conflict";

    const usable = account.pots.filter(({ endsAt }) => endsAt > this.now).sort(inOrderOfUse);
    const legs: Leg[] = [];
    const reserve = (pot: Pot, wanted: bigint): bigint => {
      const held = least(pot.remaining - pot.frozen, wanted);
      if (held > 0n) legs.push({ pot, held, taken: 0n });
      return held;
    };
    const isFree = amount.num === 0n;
    let covered = 0n;
    for (const pot of usable) {
      if (pot.unit === kind && !isFree) covered += reserve(pot, units - covered);
    }
    let owed = up(share(amount, units - covered, units), this.scale);
    for (const pot of usable) if (pot.unit === "money") owed -= reserve(pot, owed);
    if (owed > 0n) return "insufficient";
    for (const { pot, held } of legs) pot.frozen += held;
    const expiresAt = this.now + ttlSeconds * 1000;
    const { scale } = this;
    this.holds.set(id, {
      account: accountId,
      identity,
      state: "open",
      scale,
      kind,
      isBeyond,
      legs,
      shortfall: 0n,
      expiresAt,
      noted: null,
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

  note(id: string, amount: Fraction, units: bigint): boolean {
    const hold = this.holds.get(id);
    if (hold === undefined) return false;
    this.#turn(this.accounts.get(hold.account)!);
    if (hold.state === "open") hold.noted = { amount, units };
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
      if (hold.noted === null) this.#resolve(hold, "expired", { num: 0n, den: 1n }, 0n);
      else this.#resolve(hold, "settled", hold.noted.amount, hold.noted.units);
      hold.isSwept = true;
    }
  }

  balance(id: string): Balance {
    const account = this.accounts.get(id)!;
    this.#turn(account);
    let [cash, gift, frozen] = [0n, 0n, 0n];
    const quotas: Quotas = { text: 0, image: 0, video: 0 };
    for (const pot of account.pots) {
      const remaining = pot.endsAt <= this.now ? pot.frozen : pot.remaining;
      if (pot.unit !== "money") quotas[pot.unit] += Number(remaining - pot.frozen);
      else {
        frozen += pot.frozen;
        if (pot.source === "cash") cash += remaining;
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
      hold.legs.reduce(
        (sum, leg) => (leg.pot.unit === "money") === isMoney ? sum + leg.held : sum,
        0n,
      );
    let covered = isOwing ? least(held(false), units) : 0n;
    let quota = covered;
    const more: Leg[] = [];
    const take = (pot: Pot, wanted: bigint): bigint => {
      const taken = least(pot.remaining - pot.frozen, wanted);
      if (taken > 0n) more.push({ pot, held: 0n, taken });
      return taken;
    };
    const usable = hold.isBeyond && isOwing
      ? account.pots.filter(({ endsAt }) => endsAt > this.now).sort(inOrderOfUse)
      : [];
    for (const pot of usable) {
      if (pot.unit !== hold.kind) continue;
      // One by one is slow, and plainly right: a unit of quota for each that the held money does not reach.
      let wanted = 0n;
      while (
        covered + wanted < units &&
        isAbove(share(amount, units - covered - wanted, units), held(true))
      ) wanted++;
      covered += take(pot, wanted);
    }
    const due = isOwing ? share(amount, units - covered, units) : { num: 0n, den: 1n };
    const carry = account.carry;
    let owed = this.#charge(account, due, held(true), hold.scale);
    hold.carried = account.carry - carry;
    let beyond = owed - held(true);
    for (const pot of usable) {
      if (pot.unit === "money" && beyond > 0n) beyond -= take(pot, beyond);
    }
    for (const leg of hold.legs) {
      leg.taken = least(leg.held, leg.pot.unit === "money" ? owed : quota);
      if (leg.pot.unit === "money") owed -= leg.taken;
      else quota -= leg.taken;
      leg.pot.frozen -= leg.held;
      leg.pot.remaining -= leg.pot.endsAt <= this.now ? leg.held : leg.taken;
    }
    for (const { pot, taken } of more) {
      pot.remaining -= taken;
      if (pot.unit === "money") owed -= taken;
    }
    hold.legs.push(...more);
    hold.shortfall = owed;
  }

  /** Settles what the sweeper has resolved: everything is given back, and taken anew as far as it is there. */
  #amend(hold: Hold, amount: Fraction, units: bigint): void {
    hold.isSwept = false;
    hold.state = "settled";
    const account = this.accounts.get(hold.account)!;
    account.carry -= hold.carried;
    // Of what has ended meanwhile, only what was taken before can be taken again.
    const kept = new Map<Pot, bigint>();
    for (const { pot, taken } of hold.legs) {
      if (pot.endsAt <= this.now) kept.set(pot, (kept.get(pot) ?? 0n) + taken);
      else pot.remaining += taken;
    }
    const take = (pot: Pot, wanted: bigint): bigint => {
      const isOver = pot.endsAt <= this.now;
      const taken = least(
        isOver ? kept.get(pot) ?? 0n : pot.remaining - pot.frozen,
        wanted,
      );
      if (isOver) kept.set(pot, (kept.get(pot) ?? 0n) - taken);
      else pot.remaining -= taken;
      return taken;
    };
    const own = hold.legs.filter(({ held }) => held > 0n);
    const held = own.reduce(
      (sum, { pot, held }) => pot.unit === "money" ? sum + held : sum,
      0n,
    );
    const usable = account.pots.filter(({ endsAt }) => endsAt > this.now).sort(inOrderOfUse);
    const more: Leg[] = [];
    const takeMore = (pot: Pot, wanted: bigint): bigint => {
      const taken = take(pot, wanted);
      if (taken > 0n) more.push({ pot, held: 0n, taken });
      return taken;
    };
    const isOwing = amount.num > 0n;
    let covered = 0n;
    for (const leg of own) {
      if (leg.pot.unit === "money") continue;
      leg.taken = isOwing ? take(leg.pot, least(leg.held, units - covered)) : 0n;
      covered += leg.taken;
    }
    for (const pot of hold.isBeyond && isOwing ? usable : []) {
      if (pot.unit !== hold.kind) continue;
      let wanted = 0n;
      while (
        covered + wanted < units && isAbove(share(amount, units - covered - wanted, units), held)
      ) wanted++;
      covered += takeMore(pot, wanted);
    }
    const due = isOwing ? share(amount, units - covered, units) : { num: 0n, den: 1n };
    let owed = this.#charge(account, due, held, hold.scale);
    // Without leave to go beyond the hold, its amount is the most that is taken, from wherever.
    let most = hold.isBeyond ? owed : least(owed, held);
    const pay = (taken: bigint): bigint => {
      owed -= taken;
      most -= taken;
      return taken;
    };
    for (const leg of own) {
      if (leg.pot.unit === "money") leg.taken = pay(take(leg.pot, least(leg.held, most)));
    }
    for (const pot of usable) {
      if (pot.unit === "money" && most > 0n) pay(takeMore(pot, most));
    }
    hold.legs = [...own, ...more];
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
    const most = alone > held ? alone : held;
    const charged = account.carry === 0n ? alone : least(together, most);
    account.carry += (due.num * ONE - charged * due.den) * (CARRY_ONE / ONE) / due.den;
    return charged;
  }

  /** What time has done to an account's plan. Doing it early or late makes no difference. */
  #turn(account: Account): void {
    if (account.planEndsAt <= this.now) {
      for (const pot of this.#running(account)) this.#end(pot, account.planEndsAt);
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
        account.pots.push({ source: "quota", unit, remaining, frozen: 0n, endsAt, number: 0 });
      }
    }
  }

  #running(account: Account): Pot[] {
    return account.pots.filter(({ source, endsAt }) => source === "quota" && endsAt > this.now);
  }

  #end(pot: Pot, at: number): void {
    pot.endsAt = at;
    pot.remaining = pot.frozen;
  }

  #cash({ pots }: Account): Pot {
    return pots.find(({ source }) => source === "cash")!;
  }
}

const ORDER = ["quota", "gift", "cash"];

function inOrderOfUse(a: Pot, b: Pot): number {
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
