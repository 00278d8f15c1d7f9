import type { Queries } from "../../platform/database/database.ts";

/** Receipts and transfers before this moment are archived: there are totals of their months. Null: none are. */
export async function archivedBefore(sql: Queries): Promise<Date | null> {
  const [{ before }] = await sql<[{ before: Date | null }]>`
    select (max(month) + interval '1 month')::timestamp at time zone 'UTC' as before
      from archive_month where archived_at is not null`;
  return before;
}

/** What an archived month moved in one kind of bucket of an account. */
export interface MonthTotal {
  /** Such as 2026-01. */
  month: string;
  kind: string;
  unit: string;
  source: string;
  /** Positive into the account, negative out of it. */
  amount: string;
  /** What the account could not pay; null unless `kind` is shortfall. */
  shortfall: string | null;
  transfers: string;
}

/** Totals of the archived months that are all within the period, oldest first. */
export async function listMonthTotals(
  sql: Queries,
  { account, from, to }: { account: string; from?: Date | undefined; to?: Date | undefined },
): Promise<MonthTotal[]> {
  const rows = await sql<MonthTotal[]>`
    with moved as (
      select month, kind, unit, transfers, amount, credit ~ '^(cash|gift|quota):' as is_in,
             case kind when 'shortfall' then '' else
               split_part(case when credit ~ '^(cash|gift|quota):' then credit else debit end, ':', 1)
             end as source,
             case debit when 'revenue' then -amount else amount end as unpaid
        from transfer_total
       where account_id = ${account}
         ${from === undefined ? sql`` : sql`and month::timestamp at time zone 'UTC' >= ${from}`}
         ${
    to === undefined ? sql`` : sql`and (month + interval '1 month') at time zone 'UTC' <= ${to}`
  })
    select to_char(month, 'YYYY-MM') as month, kind, unit, source, sum(transfers)::text as transfers,
           sum(case when kind = 'shortfall' then 0 when is_in then amount else -amount end)::text as amount,
           case kind when 'shortfall' then sum(unpaid)::text end as shortfall
      from moved group by 1, 2, 3, 4 order by 1, 2, 3, 4`;
  return [...rows];
}
