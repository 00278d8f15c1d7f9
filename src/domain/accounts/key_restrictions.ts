import { type AddressList, readAddressList } from "../../lib/address_list.ts";
import { ApiError } from "../../lib/api_error.ts";
import { parseDecimal, trimDecimal } from "../../lib/money.ts";
import { isStorableDate } from "../../lib/storable_date.ts";

export const BUDGET_PERIODS = ["total", "day", "week", "month"] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** What a key may do, as the API has it. Null: no restriction. */
export interface KeyRestrictions {
  expires_at: string | null;
  /** Ids of models, and patterns with `*`. */
  models: string[] | null;
  /** Lower rates than those of the plan. */
  limits: KeyLimits | null;
  /** Networks (CIDR) that its requests may come from. */
  allowed_ips: string[] | null;
  log_bodies: boolean;
  budget: KeyBudget | null;
}

export interface KeyLimits {
  requests_per_minute?: number | null | undefined;
  tokens_per_minute?: number | null | undefined;
}

/** What the key may spend in each period (UTC). */
export interface KeyBudget {
  amount: string;
  period: BudgetPeriod;
}

/** The columns of a key that restrict it. */
export interface RestrictionRow {
  expires_at: Date | null;
  models: string[] | null;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  allowed_ips: string[] | null;
  log_bodies: boolean;
  budget_amount: string | null;
  budget_period: BudgetPeriod | null;
}

export function toRestrictions(row: RestrictionRow): KeyRestrictions {
  const { requests_per_minute, tokens_per_minute, budget_amount, budget_period } = row;
  return {
    expires_at: row.expires_at?.toISOString() ?? null,
    models: row.models,
    limits: requests_per_minute === null && tokens_per_minute === null
      ? null
      : { requests_per_minute, tokens_per_minute },
    allowed_ips: row.allowed_ips,
    log_bodies: row.log_bodies,
    budget: budget_amount === null
      ? null
      : { amount: trimDecimal(budget_amount), period: budget_period! },
  };
}

/** The columns of the restrictions that are given. Throws an `ApiError` that names the field. */
export function toColumns(given: Partial<KeyRestrictions>): Partial<RestrictionRow> {
  const columns: Partial<RestrictionRow> = {};
  if (given.expires_at !== undefined) columns.expires_at = readExpiry(given.expires_at);
  if (given.models !== undefined) columns.models = orNull(given.models);
  if (given.limits !== undefined) {
    columns.requests_per_minute = given.limits?.requests_per_minute ?? null;
    columns.tokens_per_minute = given.limits?.tokens_per_minute ?? null;
  }
  if (given.allowed_ips !== undefined) columns.allowed_ips = readNetworks(given.allowed_ips);
  if (given.log_bodies !== undefined) columns.log_bodies = given.log_bodies;
  if (given.budget !== undefined) {
    columns.budget_amount = given.budget === null ? null : readAmount(given.budget.amount);
    columns.budget_period = given.budget?.period ?? null;
  }
  return columns;
}

/** An empty list would allow nothing: it stands for no restriction. */
function orNull<T>(list: T[] | null): T[] | null {
  return list === null || list.length === 0 ? null : list;
}

function readExpiry(text: string | null): Date | null {
  if (text === null) return null;
  const moment = new Date(text);
  if (isStorableDate(moment) && moment.getTime() > Date.now()) return moment;
  throw invalid("expires_at", "expires_at must lie in the future.");
}

function readNetworks(networks: string[] | null): string[] | null {
  const given = orNull(networks);
  const read = given === null ? null : readAddressList(given);
  if (typeof read !== "string") return given;
  throw invalid(
    "allowed_ips",
    `${
      JSON.stringify(read)
    } is no address or network, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32.`,
  );
}

function readAmount(amount: string): string {
  const value = parseDecimal(amount);
  if (value !== null && value > 0n) return amount;
  throw invalid("budget.amount", "budget.amount must be a decimal string above zero.");
}

function invalid(param: string, message: string): ApiError {
  return new ApiError("invalid_value", message, { param });
}

/** The models that a key may use; null: all of its account. */
export type ModelFilter = (model: string) => boolean;

/** Matches ids of models. `*` stands for any text. */
export function modelFilter(patterns: readonly string[]): ModelFilter {
  const ids = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const parts = patterns.filter((pattern) => pattern.includes("*"))
    .map((pattern) => pattern.split("*"));
  return (model) => ids.has(model) || parts.some((texts) => matches(model, texts));
}

/** Whether a text begins with the first part, ends with the last, and has the others in between, in order. */
function matches(text: string, parts: readonly string[]): boolean {
  const [first, last] = [parts[0]!, parts.at(-1)!];
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Refuses an entry that no model of the configuration matches: a key for it would do nothing. */
export function requireKnownModels(
  known: ReadonlyMap<string, unknown>,
  patterns: readonly string[] | null | undefined,
): void {
  for (const pattern of patterns ?? []) {
    const filter = modelFilter([pattern]);
    if (![...known.keys()].some(filter)) {
      throw invalid("models", `No model is called ${JSON.stringify(pattern)}.`);
    }
  }
}

/** Restrictions as requests are checked with them; made once for each key in memory. */
export interface CompiledRestrictions {
  /** As `Date.now()`; Infinity: never. */
  readonly expiresAt: number;
  readonly models: ModelFilter | null;
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly allowedIps: AddressList | null;
  /** The ledger checks it. */
  readonly hasBudget: boolean;
}

const NONE: AddressList = { has: () => false };

export function compileRestrictions(row: RestrictionRow): CompiledRestrictions {
  const addresses = row.allowed_ips === null ? null : readAddressList(row.allowed_ips);
  return {
    expiresAt: row.expires_at?.getTime() ?? Infinity,
    models: row.models === null ? null : modelFilter(row.models),
    requestsPerMinute: row.requests_per_minute ?? Infinity,
    tokensPerMinute: row.tokens_per_minute ?? Infinity,
    // Checked when it was stored; if it cannot be read all the same, it allows nothing.
    allowedIps: typeof addresses === "string" ? NONE : addresses,
    hasBudget: row.budget_amount !== null,
  };
}
