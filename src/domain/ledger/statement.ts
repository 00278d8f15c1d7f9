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
      select created_at::text as at from hold where id = ${after} and account_id = ${account}`)[0];
  if (place === undefined) {
    throw new ApiError("invalid_value", "after must be the id of a list's last entry.", {
      param: "after",
    });
  }
  const rows = await sql<ReceiptRow[]>`
    select * from hold
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
       ${to === undefined ? sql`` : sql`and created_at < ${to}`}
     order by created_at ${isAscending ? sql`asc` : sql`desc`}, id ${
    isAscending ? sql`asc` : sql`desc`
  }
     limit ${limit + 1}`;
  return {
    data: rows.slice(0, limit).map((row) => toReceipt(row, currency)),
    hasMore: rows.length > limit,
  };
}

/** The receipt of one request; null where the account has none. */
export async function findReceipt(
  sql: Queries,
  account: string,
  requestId: string,
  currency: string,
): Promise<Receipt | null> {
  const [row] = await sql<[ReceiptRow?]>`
    select * from hold where id = ${requestId} and account_id = ${account}`;
  return row === undefined ? null : toReceipt(row, currency);
}
