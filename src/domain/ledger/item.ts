import { formatDecimal, type Fraction, roundHalfUp, SCALE } from "../../lib/money.ts";
import type { Charge } from "../pricing/quote.ts";
import type { PriceSnapshot } from "../pricing/snapshot.ts";
import type { Usage, UsageKind } from "../../model_types/usage.ts";
import type { Queries } from "../../platform/database/database.ts";

/** One operation on one hold; `ledger_batch` takes many. Amounts are strings: JSON has no integers. */
export interface Item {
  op: "hold" | "settle" | "release" | "checkpoint";
  id: string;
  account_id?: string | undefined;
  num?: string;
  den?: string;
  units?: string;
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
}

/** Runs items, in their order per account, as one statement. The results come in no particular order. */
export async function runItems(sql: Queries, items: readonly Item[]): Promise<Outcome[]> {
  const doc = JSON.stringify(items.map((item, n) => ({ n, ...item })));
  return await sql<Outcome[]>`select * from ledger_batch(${doc}::text::json)`;
}

export async function runItem(sql: Queries, item: Item): Promise<Outcome> {
  return (await runItems(sql, [item]))[0]!;
}

/** Settles a hold that a sweeper has resolved; of any other hold the outcome is `already`. */
export async function runLate(sql: Queries, item: Item): Promise<Outcome> {
  const doc = JSON.stringify({ n: 0, ...item });
  return (await sql<Outcome[]>`select * from ledger_settle_late(${doc}::text::json)`)[0]!;
}

export function amountFields({ num, den }: Fraction, units: bigint) {
  if (num < 0n || den <= 0n || units < 0n) {
    throw new RangeError("An amount of money cannot be negative");
  }
  return { num: String(num), den: String(den), units: String(units) };
}

export function chargeFields({ amount, units, usage, served }: Charge) {
  const fields = { ...amountFields(amount, units), usage };
  if (served === undefined) return fields;
  const { upstream, cost } = served;
  return {
    ...fields,
    upstream: upstream ?? undefined,
    cost: cost === null ? undefined : formatDecimal(roundHalfUp(cost, SCALE)),
  };
}
