import { formatDecimal, type Fraction, roundHalfUp, SCALE } from "../../lib/money.ts";
import type { Charge, QuotaShare } from "../pricing/quote.ts";
import type { PriceSnapshot } from "../pricing/snapshot.ts";
import type { Metadata } from "./request_origin.ts";
import type { Usage, UsageKind } from "../../model_types/usage.ts";
import type { Queries } from "../../platform/database/database.ts";
import { chargeRows, isUsualCharge, NO_CHARGES } from "./charge_rows.ts";

/** One operation on one hold; `ledger_run` takes many. Amounts are strings: JSON has no integers. */
export interface Item {
  /** `void` takes a settlement back, see `Bookings.giveUp`. */
  op: "hold" | "settle" | "release" | "checkpoint" | "charge" | "void";
  id: string;
  account_id?: string | undefined;
  num?: string;
  den?: string;
  units?: string;
  /** Instead of `kind` and `units`. */
  shares?: readonly ItemShare[];
  usage?: Usage;
  scale?: number;
  request_id?: string;
  client_request_id?: string | undefined;
  model?: string;
  kind?: UsageKind | null;
  price?: PriceSnapshot;
  upstream?: string | undefined;
  cost?: string | undefined;
  ttl_seconds?: number;
  beyond_hold?: boolean | undefined;
  key_id?: string | undefined;
  end_user?: string | undefined;
  metadata?: Metadata | undefined;
  endpoint?: string | undefined;
  /** Of a settlement: rather than record a shortfall, answer that what is only reserved would be enough. */
  may_wait?: boolean;
  /** From here on: of a request that has drawn from a reserve. */
  reserve_id?: string;
  allocations?: string[];
  held?: string[];
  /** Whether the reserve's row counts the draw. */
  is_told?: boolean;
  /** The maximum price, the quantity that it is for, and the time of the request; for `charge` only. */
  amount?: string;
  max_units?: string;
  begun_at?: string;
}

/** A `QuotaShare` as JSON. */
export interface ItemShare {
  readonly kind: UsageKind;
  readonly num: string;
  readonly den: string;
  readonly units: string;
}

export type HoldState = "open" | "settled" | "released" | "expired";

/** The result of an item. Amounts are decimal strings as Postgres writes them. */
export interface Outcome {
  n: number;
  id: string;
  outcome:
    | "held"
    | "resolved"
    | "checkpointed"
    | "already"
    | "insufficient"
    | "over_budget"
    | "conflict"
    | "unknown"
    | "open";
  state: HoldState | null;
  allocations: string[] | null;
  held: string[] | null;
  taken: string[] | null;
  shortfall: string | null;
  /** Set for resolved holds. */
  account_id: string | null;
  /** With `insufficient`: what is only reserved would be enough, and is free then at the latest. */
  retry_ms?: number | null;
  /** With `over_budget`: what is left of the budget of the key. */
  budget_left?: string | null;
  /** Whether the rows of the request log are written that the statement took along, if it did. */
  is_logged?: boolean;
}

/**
 * Runs items, in their order per account, as one statement. The results come in no particular order. `logRows`: rows
 * of the request log that the statement takes along.
 */
export async function runItems(
  sql: Queries,
  items: readonly Item[],
  logRows: string | null = null,
): Promise<Outcome[]> {
  const charges: [n: number, item: Item][] = [];
  const others: (Item & { n: number })[] = [];
  for (const [n, item] of items.entries()) {
    // Charges that are booked at once share a scale, which a new configuration may change.
    const { scale } = charges[0]?.[1] ?? item;
    if (isUsualCharge(item) && item.scale === scale) charges.push([n, item]);
    else others.push({ n, ...item });
  }
  const doc = others.length === 0 ? null : JSON.stringify(others);
  const { groups, rows, scale } = charges.length === 0 ? NO_CHARGES : chargeRows(charges);
  if (logRows === null) {
    return await sql<Outcome[]>`
      select * from ledger_run(${doc}::text::json, ${groups}::text::json, ${rows}::text::charge_row[], ${scale}::int)`;
  }
  return await sql<Outcome[]>`
    select * from request_write_along(${logRows}) as is_logged,
                  ledger_run(${doc}::text::json, ${groups}::text::json, ${rows}::text::charge_row[], ${scale}::int)`;
}

export async function runItem(sql: Queries, item: Item): Promise<Outcome> {
  return (await runItems(sql, [item]))[0]!;
}

/**
 * Settles a hold that a sweeper has resolved; of any other hold the outcome is `already`. With `mayWait`: rather than record
 * a shortfall, answer that what is only reserved would be enough.
 */
export async function runLate(sql: Queries, item: Item, mayWait = false): Promise<Outcome> {
  const doc = JSON.stringify({ n: 0, ...item, may_wait_late: mayWait });
  return (await sql<Outcome[]>`select * from ledger_settle_late(${doc}::text::json)`)[0]!;
}

export function amountFields({ num, den }: Fraction, units: bigint) {
  if (num < 0n || den <= 0n || units < 0n) {
    throw new RangeError("An amount of money cannot be negative");
  }
  return { num: String(num), den: String(den), units: String(units) };
}

/** Nothing where quotas of one kind at most may pay. */
export function shareFields(shares: readonly QuotaShare[] = []): Pick<Item, "shares"> {
  if (shares.length === 0) return {};
  return {
    shares: shares.map(({ kind, amount, units }) => ({ kind, ...amountFields(amount, units) })),
  };
}

export function chargeFields({ amount, units, shares, usage, served }: Charge) {
  const fields = { ...amountFields(amount, units), ...shareFields(shares), usage };
  if (served === undefined) return fields;
  const { upstream, cost } = served;
  return {
    ...fields,
    upstream: upstream ?? undefined,
    cost: cost === null ? undefined : formatDecimal(roundHalfUp(cost, SCALE)),
  };
}
