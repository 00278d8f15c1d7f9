import { decimal, SCALE, trimDecimal } from "../../lib/money.ts";
import type { Queries } from "../../platform/database/database.ts";

/** Usage of one model on one day. Amounts are decimal strings. */
export interface UsageDay {
  account: string;
  /** Such as 2026-01-31, in UTC. */
  day: string;
  model: string;
  calls: number;
  failed: number;
  /** Money taken; what quotas paid for is in `quota`, in their units. */
  charged: string;
  quota: number;
  /** What upstreams charge, as far as configured: `uncosted` requests are not in it. For operators only. */
  cost: string;
  uncosted: number;
  input_tokens: number;
  output_tokens: number;
  images: number;
  seconds: string;
  characters: number;
}

/** Everything comes as text: the driver's bigint and numeric. */
type Row =
  & { account_id: string; day: string; model: string }
  & Record<
    Exclude<keyof UsageDay, "account" | "day" | "model">,
    string
  >;

export interface UsageDaysQuery {
  /** Unset: every account. */
  account?: string | undefined;
  /** The first day wanted, such as 2026-01-01. */
  from: string;
}

/** Usage by day and model up to this moment. Costs the same whether it was ten requests or ten million. */
export async function usageDays(
  sql: Queries,
  { account, from }: UsageDaysQuery,
): Promise<UsageDay[]> {
  const rows = await sql<Row[]>`
    select account_id, day::text as day, model, sum(calls) as calls, sum(failed) as failed, sum(charged) as charged,
           sum(quota) as quota, sum(cost) as cost, sum(uncosted) as uncosted, sum(input_tokens) as input_tokens,
           sum(output_tokens) as output_tokens, sum(images) as images, sum(seconds) as seconds,
           sum(characters) as characters
      from usage_between(${account ?? null}::text, ${from}::text::date, null) u
     group by u.account_id, u.day, u.model order by u.day, u.account_id, u.model`;
  return rows.map((row) => ({
    account: row.account_id,
    day: row.day,
    model: row.model,
    calls: Number(row.calls),
    failed: Number(row.failed),
    charged: trimDecimal(row.charged),
    quota: Number(row.quota),
    cost: trimDecimal(row.cost),
    uncosted: Number(row.uncosted),
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    images: Number(row.images),
    seconds: trimDecimal(row.seconds, 0),
    characters: Number(row.characters),
  }));
}

/** As much of a `UsageDay` as a chart shows. A day and model may come twice: the parts add up. */
export interface UsagePoint {
  readonly day: string;
  readonly model: string;
  readonly calls: number;
  readonly failed: number;
  /** In units of 10⁻¹², as `decimal` reads them. */
  readonly charged: bigint;
  readonly tokens: number;
}

/** One account's usage for a chart. Faster than `usageDays`, because the console's first page is requested often. */
export async function usageChart(
  sql: Queries,
  account: string,
  from: string,
): Promise<UsagePoint[]> {
  const [{ lines }] = await sql<[{ lines: string | null }]>`
    select usage_chart(${account}, ${from}::text::date) as lines`;
  if (lines === null) return [];
  return lines.split("\n").map((line) => {
    const [day, model, calls, failed, charged, tokens] = line.split("\t");
    return {
      day: day!,
      model: model!,
      calls: Number(calls),
      failed: Number(failed),
      charged: exactly(charged!),
      tokens: Number(tokens),
    };
  });
}

/** Nearly every amount has all its decimals; removing the point is enough. */
function exactly(amount: string): bigint {
  const point = amount.length - SCALE - 1;
  return amount[point] === "."
    ? BigInt(amount.slice(0, point) + amount.slice(point + 1))
    : decimal(amount);
}

/** Per transaction: takes a fraction of a second, also on the embedded database, where other queries wait for it. */
const BATCH_SIZE = 5_000;

/** Adds up what was resolved since the last time. Any number of nodes may call it; one does the work. */
export async function rollUpUsage(sql: Queries, limit = BATCH_SIZE): Promise<void> {
  while (true) {
    const [{ more }] = await sql<[{ more: boolean }]>`select usage_roll_up(${limit}) as more`;
    if (!more) return;
  }
}
