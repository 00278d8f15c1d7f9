import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";
import { type Receipt, type ReceiptRow, toReceipt } from "./receipt.ts";

export interface UsageQuery {
  account: string;
  limit: number;
  /** The id of the last receipt of the page before. */
  after?: string | undefined;
  order: "asc" | "desc";
  model?: string | undefined;
  /** From this moment on. */
  from?: Date | undefined;
  /** Before this moment. */
  to?: Date | undefined;
}

/** What an account used, request by request. */
export async function listUsage(
  sql: Queries,
  query: UsageQuery,
  currency: string,
): Promise<{ data: Receipt[]; hasMore: boolean }> {
  const { account, limit, after, order, model, from, to } = query;
  const isAscending = order === "asc";
  // The id orders requests with the same time.
  const place = after === undefined ? null : (await sql<[{ at: string }?]>`
      select created_at::text as at from ledger_find_receipts(array[${after}])
       where account_id = ${account}`)[0];
  if (place === undefined) {
    throw new ApiError("invalid_value", "after must be the id of a list's last entry.", {
      param: "after",
    });
  }
  const direction = isAscending ? sql`asc` : sql`desc`;
  // Each table is read in order by its index, as far as the page needs.
  const page = sql`
     where account_id = ${account}
       ${
    place === null
      ? sql``
      : isAscending
      ? sql`and (created_at, id) > (${place.at}::text::timestamptz, ${after!})`
      : sql`and (created_at, id) < (${place.at}::text::timestamptz, ${after!})`
  }
       ${model === undefined ? sql`` : sql`and model = ${model}`}
       ${from === undefined ? sql`` : sql`and created_at >= ${from}`}
       ${to === undefined ? sql`` : sql`and created_at < ${to}`}`;
  const inOrder = sql`order by created_at ${direction}, id ${direction} limit ${limit + 1}`;
  const rows = await sql<ReceiptRow[]>`
    with corrected as (
      select ${receiptColumns(sql)} from receipt_correction ${page} ${inOrder}),
    resolved as (
      select ${receiptColumns(sql)} from receipt r ${page}
         and not exists (select from receipt_correction c where c.id = r.id) ${inOrder}),
    open as (
      select id, request_id, client_request_id, key_id, end_user, metadata, endpoint, model, 'open' as state,
             allocations, held, null::numeric[] as taken, null::numeric as shortfall, null::jsonb as usage, price, created_at,
             null::timestamptz as resolved_at
        from hold ${page} ${inOrder})
    select * from (
      select * from corrected union all select * from resolved union all select * from open) receipts
     ${inOrder}`;
  return {
    data: rows.slice(0, limit).map((row) => toReceipt(row, currency)),
    hasMore: rows.length > limit,
  };
}

function receiptColumns(sql: Queries) {
  return sql`
    id, request_id, client_request_id, key_id, end_user, metadata, endpoint, model, state, allocations, held, taken,
    shortfall, usage, price, created_at, resolved_at`;
}

/** The receipt of one request; null where the account has none. */
export async function findReceipt(
  sql: Queries,
  account: string,
  requestId: string,
  currency: string,
): Promise<Receipt | null> {
  const [row] = await sql<[ReceiptRow?]>`
    select * from ledger_find_receipts(array[${requestId}]) where account_id = ${account}`;
  return row === undefined ? null : toReceipt(row, currency);
}
