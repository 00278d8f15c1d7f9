import { trimDecimal } from "../../lib/money.ts";
import type { Queries } from "../../platform/database/database.ts";

export interface ExportQuery {
  account: string;
  from?: Date | undefined;
  to?: Date | undefined;
}

interface Row {
  /** As text: a `Date` would lose the microseconds that pages are told apart by. */
  at: string;
  id: string;
  kind: string;
  unit: string;
  amount: string;
  pot: string;
  hold_id: string | null;
  reference: string | null;
  reason: string | null;
  shortfall: string | null;
  created_at: Date;
}

const PAGE = 1000;
const COLUMNS = "time,id,kind,unit,amount,from_or_to,request_id,reference,reason,shortfall\r\n";

/**
 * Every movement of an account's money and quotas as CSV, oldest first, a page at a time: no connection
 * is kept while a slow reader reads. Money in is positive, money out negative. A shortfall has a line of its
 * own, which moves nothing: the account did not pay it.
 */
export async function* exportCsv(
  sql: Queries,
  { account, from, to }: ExportQuery,
): AsyncGenerator<string> {
  yield COLUMNS;
  let last: Row | undefined;
  while (true) {
    const rows: Row[] = await sql<Row[]>`
      select created_at::text as at, created_at, id, unit, hold_id, reference, reason,
             kind,
             case when kind = 'shortfall' then 0
                  when credit ~ '^(cash|gift|quota):' then amount else -amount end as amount,
             case kind when 'shortfall' then '' else
               split_part(case when credit ~ '^(cash|gift|quota):' then credit else debit end, ':', 1)
             end as bucket,
             case kind when 'shortfall' then amount end as shortfall
        from transfer
       where account_id = ${account}
         ${
      last === undefined
        ? sql``
        : sql`and (created_at, id) > (${last.at}::text::timestamptz, ${last.id})`
    }
         ${from === undefined ? sql`` : sql`and created_at >= ${from}`}
         ${to === undefined ? sql`` : sql`and created_at < ${to}`}
       order by created_at, id limit ${PAGE}`;
    yield rows.map(line).join("");
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

function line(row: Row): string {
  return [
    row.created_at.toISOString(),
    row.id,
    row.kind,
    row.unit,
    trimDecimal(row.amount, row.unit === "money" ? 2 : 0),
    row.pot,
    row.hold_id ?? "",
    asText(row.reference ?? ""),
    asText(row.reason ?? ""),
    row.shortfall === null ? "" : trimDecimal(row.shortfall),
  ].map(quoted).join(",") + "\r\n";
}

/** Words that people chose must not become formulas in their reader's spreadsheet. */
function asText(words: string): string {
  return /^[=+\-@\t\r]/.test(words) ? `'${words}` : words;
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
