import { plainCsvText, quoteCsv } from "../../lib/csv.ts";
import { trimDecimal } from "../../lib/money.ts";
import type { Metadata } from "./request_origin.ts";
import { REPORTED_QUANTITIES, type Usage } from "../../model_types/usage.ts";
import type { Queries } from "../../platform/database/database.ts";
import { listMonthTotals, type MonthTotal } from "./archived.ts";

export interface ExportQuery {
  account: string;
  from?: Date | undefined;
  to?: Date | undefined;
  /** Adds what upstreams charge: customers are not told. */
  isForOperator?: boolean;
}

interface Row {
  /** As text: a `Date` would lose the microseconds that the next page starts after. */
  at: string;
  id: string;
  kind: string;
  unit: string;
  amount: string;
  bucket: string;
  request_id: string | null;
  reference: string | null;
  reason: string | null;
  shortfall: string | null;
  model: string | null;
  key_id: string | null;
  key_name: string | null;
  end_user: string | null;
  metadata: Metadata | null;
  is_capped: boolean | null;
  endpoint: string | null;
  /** Of a request, on the first of its lines only: columns of usage and cost may be summed. */
  usage: Usage | null;
  upstream: string | null;
  cost: string | null;
  created_at: Date;
}

const PAGE = 1000;
/** The columns that totals of months have too. */
const MONEY_COLUMNS = "time,id,kind,unit,amount,from_or_to,request_id,reference,reason,shortfall"
  .split(",");
const REQUEST_COLUMNS = [
  ...["model", "key", "key_name", "user", "metadata", "capped", "endpoint"],
  ...REPORTED_QUANTITIES,
];
const OPERATOR_COLUMNS = ["upstream", "cost"];

/**
 * Every movement of an account's money and quotas as CSV, oldest first. It is read a page at a time, so that
 * a slow client holds no connection. Money in is positive, money out negative. A shortfall has its own line
 * with amount 0: the account did not pay it; `capped` marks all lines of such a request. What a request used is on the
 * first line that took something for it. An archived month that is all within the period is a few lines of totals.
 */
export async function* exportCsv(
  sql: Queries,
  { account, from, to, isForOperator = false }: ExportQuery,
): AsyncGenerator<string> {
  const requestColumns = [...REQUEST_COLUMNS, ...(isForOperator ? OPERATOR_COLUMNS : [])];
  yield [...MONEY_COLUMNS, ...requestColumns].join() + "\r\n";
  const totals = await listMonthTotals(sql, { account, from, to });
  yield totals.map((total) => totalLine(total, requestColumns.length)).join("");
  let last: Row | undefined;
  while (true) {
    const rows: Row[] = await sql<Row[]>`
      with page as (
        select t.created_at::text as at, t.created_at, t.id, t.unit, t.request_id, t.reference, t.reason,
               t.kind,
               case when t.kind = 'shortfall' then 0
                    when t.credit ~ '^(cash|gift|quota):' then t.amount else -t.amount end as amount,
               case t.kind when 'shortfall' then '' else
                 split_part(case when t.credit ~ '^(cash|gift|quota):' then t.credit else t.debit end,
                            ':', 1)
               end as bucket,
               case t.kind when 'shortfall' then t.amount end as shortfall, t.model
          from movement t
         where t.account_id = ${account}
           ${
      last === undefined
        ? sql``
        : sql`and (t.created_at, t.id) > (${last.at}::text::timestamptz, ${last.id})`
    }
           ${from === undefined ? sql`` : sql`and t.created_at >= ${from}`}
           ${to === undefined ? sql`` : sql`and t.created_at < ${to}`}
         order by t.created_at, t.id limit ${PAGE})
      select p.*, r.key_id, k.name as key_name, r.end_user, r.metadata, r.endpoint,
             coalesce(c.shortfall, r.shortfall) > 0 as is_capped,
             case when line.is_first then coalesce(c.usage, r.usage) end as usage,
             case when line.is_first then coalesce(c.upstream, r.upstream) end as upstream,
             case when line.is_first then coalesce(c.cost, r.cost) end as cost
        from page p
        left join lateral (
          select * from receipt where id = p.request_id collate "C" limit 1) r on true
        left join receipt_correction c on c.id = r.id
        left join lateral (
          select p.id = coalesce(
                   (select r.id || '/' || min(slot) from unnest(r.taken) with ordinality as l (part, slot)
                     where part > 0 having min(slot) is not null),
                   (select r.id || '/' || min(slot) || '/late' from unnest(c.taken) with ordinality as l (part, slot)
                     where part > 0)) as is_first) line on true
        left join api_key k on k.id = r.key_id
       order by p.created_at, p.id`;
    yield rows.map((row) => toLine(row, isForOperator)).join("");
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

/** At the last moment of the month, so that lines are in order. */
function totalLine(
  { month, kind, unit, source, amount, shortfall, transfers }: MonthTotal,
  requestColumns: number,
): string {
  const [year, number] = month.split("-").map(Number);
  return [
    new Date(Date.UTC(year!, number!) - 1).toISOString(),
    ["total", month, kind, unit, source].filter((part) => part !== "").join(":"),
    kind,
    unit,
    trimDecimal(amount, unit === "money" ? 2 : 0),
    source,
    "",
    "",
    `total of ${transfers}, archived`,
    shortfall === null ? "" : trimDecimal(shortfall),
    ...Array.from({ length: requestColumns }, () => ""),
  ].map(quoteCsv).join(",") + "\r\n";
}

function toLine(row: Row, isForOperator: boolean): string {
  return [
    row.created_at.toISOString(),
    row.id,
    row.kind,
    row.unit,
    trimDecimal(row.amount, row.unit === "money" ? 2 : 0),
    row.bucket,
    row.request_id ?? "",
    plainCsvText(row.reference ?? ""),
    plainCsvText(row.reason ?? ""),
    row.shortfall === null ? "" : trimDecimal(row.shortfall),
    row.model ?? "",
    row.key_id ?? "",
    plainCsvText(row.key_name ?? ""),
    plainCsvText(row.end_user ?? ""),
    row.metadata === null ? "" : JSON.stringify(row.metadata),
    row.is_capped === true ? "true" : "",
    row.endpoint ?? "",
    ...REPORTED_QUANTITIES.map((name) => String(row.usage?.[name] ?? "")),
    ...(isForOperator ? [row.upstream ?? "", row.cost === null ? "" : trimDecimal(row.cost)] : []),
  ].map(quoteCsv).join(",") + "\r\n";
}
