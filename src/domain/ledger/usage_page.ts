import { COUNTED_QUANTITIES } from "../../model_types/usage.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { SumRow } from "./usage_sums.ts";

/** What usage can be grouped by, beside a field of `metadata`. */
export const USAGE_GROUPS = ["account", "key", "model", "user", "endpoint", "day"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number] | `metadata.${string}`;
/** Days are chosen by the period. */
export type UsageFilter = Exclude<UsageGroup, "day">;

export type GroupRow = SumRow & { values: (string | null)[] };

/** Where a page ends. The time is text: a `Date` would lose the microseconds. */
export interface Place {
  readonly at: string;
  readonly id: string;
}

export interface PageQuery {
  readonly groupBy: readonly UsageGroup[];
  readonly filters: ReadonlyMap<UsageFilter, string>;
  readonly from: Date;
  readonly to?: Date | undefined;
  /** What is booked later is left out. */
  readonly now: Date;
  readonly place: Place | null;
  readonly pageSize: number;
}

/** The sums of one page of receipts. Filters apply to the page, so that a page never reads more than its size. */
export function selectPage(sql: Queries, query: PageQuery) {
  const { groupBy, filters, from, to, now, place, pageSize } = query;
  const account = filters.get("account");
  const period = sql`
    resolved_at >= ${from} and resolved_at <= ${now}
    ${to === undefined ? sql`` : sql`and resolved_at < ${to}`}
    ${
    place === null
      ? sql``
      : sql`and (resolved_at, id) > (${place.at}::text::timestamptz, ${place.id})`
  }
    ${account === undefined ? sql`` : sql`and account_id = ${account}`}`;
  const inOrder = sql`order by resolved_at, id limit ${pageSize}`;
  const columns = sql`
    id, resolved_at, account_id, key_id, model, end_user, endpoint, metadata, state, allocations, taken, shortfall, cost,
    usage`;
  const values = groupBy.map((group, at) =>
    at === 0 ? groupColumn(sql, group) : sql`, ${groupColumn(sql, group)}`
  );
  let chosen = sql``;
  for (const [name, value] of filters) {
    chosen = sql`${chosen} and ${groupColumn(sql, name)} = ${value}::text`;
  }
  return sql<[{ rows: string; last: Place | null; groups: GroupRow[] }]>`
    with resolved as (
      select ${columns} from receipt r
       where ${period} and not exists (select from receipt_correction c where c.id = r.id) ${inOrder}),
    corrected as (
      select ${columns} from receipt_correction where ${period} ${inOrder}),
    page as materialized (
      select * from (select * from resolved union all select * from corrected) receipts ${inOrder}),
    summed as (
      select array[${values}]::text[] as values, ${sumColumns(sql)}
        from page
        cross join lateral (
          select sum(part) filter (where bucket not like 'quota:%') as charged,
                 sum(part) filter (where bucket like 'gift:%') as gift,
                 sum(part) filter (where bucket like 'quota:%') as quota
            from unnest(allocations, taken) as l (bucket, part)) paid
       where true ${chosen}
       group by 1)
    select (select count(*) from page) as rows,
           (select json_build_object('at', resolved_at::text, 'id', id)
              from page order by resolved_at desc, id desc limit 1) as last,
           (select coalesce(json_agg(summed), '[]') from summed) as groups`;
}

/** Sums are text: JSON numbers are not exact. */
function sumColumns(sql: Queries) {
  const counts = COUNTED_QUANTITIES.map((name) =>
    sql`coalesce(sum((usage ->> ${name})::bigint), 0)::text as ${sql(name)}, `
  );
  return sql`
    ${counts} coalesce(sum((usage ->> 'seconds')::numeric), 0)::text as seconds,
    (count(*) filter (where state = 'settled'))::text as requests,
    (count(*) filter (where state <> 'settled'))::text as failed,
    coalesce(sum(charged), 0)::text as charged, coalesce(sum(gift), 0)::text as gift,
    coalesce(sum(quota), 0)::bigint::text as quota, sum(shortfall)::text as shortfall,
    coalesce(sum(cost), 0)::text as cost,
    (count(*) filter (where state = 'settled' and cost is null))::text as uncosted`;
}

function groupColumn(sql: Queries, group: UsageGroup) {
  switch (group) {
    case "account":
      return sql`account_id`;
    case "key":
      return sql`key_id`;
    case "model":
      return sql`model`;
    case "user":
      return sql`end_user`;
    case "endpoint":
      return sql`endpoint`;
    case "day":
      return sql`to_char(resolved_at at time zone 'UTC', 'YYYY-MM-DD')`;
    default:
      return sql`metadata ->> ${group.slice("metadata.".length)}`;
  }
}
