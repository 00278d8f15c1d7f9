import { ApiError } from "../../lib/api_error.ts";
import { decimal, formatDecimal } from "../../lib/money.ts";
import type { Queries } from "../../platform/database/database.ts";

/** What margins can be grouped by. Of an upstream `provider/model`, both sides are names of their own. */
export const MARGIN_GROUPS = [
  "month",
  "day",
  "model",
  "provider",
  "upstream_model",
  "account",
  "plan",
] as const;
export type MarginGroup = (typeof MARGIN_GROUPS)[number];

export interface MarginQuery {
  /** At least one. */
  readonly groupBy: readonly MarginGroup[];
  /** The first day, such as 2026-01-01, in UTC. */
  readonly from: string;
  /** The day after the last; unset: up to now. */
  readonly to?: string | undefined;
  readonly account?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly plan?: string | undefined;
}

/** Revenue and cost of a group. Amounts are decimal strings. */
export interface Margin {
  /** Requests that were charged, and those that were not. A drama is one request, whatever providers made it. */
  readonly requests: number;
  readonly failed: number;
  /** Money taken; what quotas paid for is in `quota`, in their units. */
  readonly revenue: string;
  /** The part of the revenue that promotional credit paid. */
  readonly gift: string;
  readonly quota: number;
  /** What accounts could not pay, and of how many requests. */
  readonly shortfall: string;
  readonly capped: number;
  /** What upstreams charge, as far as it is known; null where no cost is. */
  readonly cost: string | null;
  /** Requests, and parts of dramas, whose cost is not known, and the revenue that is for them. */
  readonly uncosted: number;
  readonly uncosted_revenue: string;
  /** Revenue less cost, of what has a known cost; null where nothing has. */
  readonly margin: string | null;
  /** The same as a share of that revenue, such as "12.5"; null also where there is none. */
  readonly margin_percent: string | null;
}

/** What a group is of; null: no upstream, or a plan that is not known. */
export type GroupedMargin = Margin & { readonly [group in MarginGroup]?: string | null };

/** Sums of a group, with amounts in units of 10⁻¹². */
interface Sums {
  calls: number;
  failed: number;
  charged: bigint;
  gift: bigint;
  quota: number;
  shortfall: bigint;
  capped: number;
  cost: bigint;
  uncosted: number;
  uncosted_charged: bigint;
}

const COUNTS = ["calls", "failed", "quota", "capped", "uncosted"] as const;
const AMOUNTS = ["charged", "gift", "shortfall", "cost", "uncosted_charged"] as const;
type Row =
  & Record<(typeof COUNTS)[number] | (typeof AMOUNTS)[number], string>
  & {
    readonly [group in MarginGroup]?: string | null;
  };

/** Months have thousands of groups where each account is one: more is no report. */
const GROUPS_MAX = 50_000;

/** Revenue and cost by group, and of all groups together. Costs the same for ten requests a day or ten million. */
export async function listMargins(
  sql: Queries,
  query: MarginQuery,
): Promise<{ data: GroupedMargin[]; totals: Margin }> {
  const { groupBy, account, from, to, model, provider, plan } = query;
  const columns = groupBy.map((group) => sql`${groupColumn(sql, group)} as ${sql(group)}, `);
  const names = groupBy.map((group, at) => at === 0 ? sql`${sql(group)}` : sql`, ${sql(group)}`);
  const rows = await sql<Row[]>`
    select ${columns} sum(calls) as calls, sum(failed) as failed, sum(charged) as charged, sum(gift) as gift,
           sum(quota) as quota, sum(shortfall) as shortfall, sum(capped) as capped, sum(cost) as cost,
           sum(uncosted) as uncosted, sum(uncosted_charged) as uncosted_charged
      from usage_between(${account ?? null}::text, ${from}::text::date, ${to ?? null}::text::date) u
     where true
       ${model === undefined ? sql`` : sql`and u.model = ${model}`}
       ${provider === undefined ? sql`` : sql`and split_part(u.upstream, '/', 1) = ${provider}`}
       ${plan === undefined ? sql`` : sql`and u.plan = ${plan}`}
     group by ${names} order by ${names} limit ${GROUPS_MAX + 1}`;
  if (rows.length > GROUPS_MAX) {
    throw new ApiError(
      "invalid_value",
      `The report has more than ${GROUPS_MAX} groups: choose a shorter period, or group by less.`,
      { param: "group_by" },
    );
  }
  const sums = rows.map(toSums);
  return {
    data: rows.map((row, at) => ({
      ...Object.fromEntries(groupBy.map((group) => [group, row[group] ?? null])),
      ...toMargin(sums[at]!),
    })),
    totals: toMargin(sums.reduce(addSums, NOTHING)),
  };
}

function groupColumn(sql: Queries, group: MarginGroup) {
  switch (group) {
    case "month":
      return sql`to_char(u.day, 'YYYY-MM')`;
    case "day":
      return sql`u.day::text`;
    case "model":
      return sql`u.model`;
    case "provider":
      return sql`nullif(split_part(u.upstream, '/', 1), '')`;
    case "upstream_model":
      return sql`nullif(substr(u.upstream, strpos(u.upstream, '/') + 1), '')`;
    case "account":
      return sql`u.account_id`;
    case "plan":
      return sql`nullif(u.plan, '')`;
  }
}

const NOTHING: Sums = {
  ...{ calls: 0, failed: 0, quota: 0, capped: 0, uncosted: 0 },
  ...{ charged: 0n, gift: 0n, shortfall: 0n, cost: 0n, uncosted_charged: 0n },
};

function toSums(row: Row): Sums {
  const sums = { ...NOTHING };
  for (const name of COUNTS) sums[name] = Number(row[name]);
  for (const name of AMOUNTS) sums[name] = decimal(row[name]);
  return sums;
}

function addSums(a: Sums, b: Sums): Sums {
  const sums = { ...a };
  for (const name of COUNTS) sums[name] += b[name];
  for (const name of AMOUNTS) sums[name] += b[name];
  return sums;
}

function toMargin(sums: Sums): Margin {
  const { charged, cost, uncosted, uncosted_charged } = sums;
  const isKnown = uncosted === 0 || cost > 0n;
  const revenue = charged - uncosted_charged;
  return {
    requests: sums.calls,
    failed: sums.failed,
    revenue: formatDecimal(charged),
    gift: formatDecimal(sums.gift),
    quota: sums.quota,
    shortfall: formatDecimal(sums.shortfall),
    capped: sums.capped,
    cost: isKnown ? formatDecimal(cost) : null,
    uncosted,
    uncosted_revenue: formatDecimal(uncosted_charged),
    margin: isKnown ? formatDecimal(revenue - cost) : null,
    margin_percent: isKnown && revenue > 0n ? percentOf(revenue - cost, revenue) : null,
  };
}

/** To a tenth of a percent, towards zero. */
function percentOf(part: bigint, whole: bigint): string {
  const tenths = part * 1000n / whole;
  const size = tenths < 0n ? -tenths : tenths;
  return `${tenths < 0n ? "-" : ""}${size / 10n}.${size % 10n}`;
}

/**
 * Archived months that a period has only a part of. Each is one sum, under its first day: a report has all of it, or
 * nothing if the period begins later.
 */
export async function partlyArchived(
  sql: Queries,
  { from, to }: Pick<MarginQuery, "from" | "to">,
): Promise<string[]> {
  const rows = await sql<{ month: string }[]>`
    select to_char(month, 'YYYY-MM') as month from archive_month
     where archived_at is not null
       and (month < ${from}::text::date and month + interval '1 month' > ${from}::text::date
            or month < ${to ?? null}::text::date and month + interval '1 month' > ${
    to ?? null
  }::text::date)
     order by month`;
  return rows.map(({ month }) => month);
}
