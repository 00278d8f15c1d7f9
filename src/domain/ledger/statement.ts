import { ApiError } from "../../lib/api_error.ts";
import { idPrefixAt } from "../../lib/ids.ts";
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

interface Place {
  /** When the last receipt of the page before was accepted, in all digits. */
  readonly at: string;
}

const DAY_MS = 86_400_000;
/** Most pages, newest first, are filled from so many days: that is one partition of receipts or two. */
const RECENT_DAYS = 35;

/** What an account used, request by request. */
export async function listUsage(
  sql: Queries,
  query: UsageQuery,
  currency: string,
): Promise<{ data: Receipt[]; hasMore: boolean }> {
  const { limit, order, to } = query;
  const place = await findPlace(sql, query);
  const newest = place === null ? to ?? new Date() : new Date(place.at);
  const recent = newest.getTime() - RECENT_DAYS * DAY_MS;
  let rows = order === "desc" && recent > 0 ? await readPage(sql, query, place, recent) : [];
  // The clocks of a node, which gives ids, and of the database may differ, by less than a day.
  const isWhole = rows.length > limit && rows.at(-1)!.created_at.getTime() >= recent + DAY_MS;
  if (!isWhole) rows = await readPage(sql, query, place, 0);
  return {
    data: rows.slice(0, limit).map((row) => toReceipt(row, currency)),
    hasMore: rows.length > limit,
  };
}

async function findPlace(sql: Queries, { account, after }: UsageQuery): Promise<Place | null> {
  if (after === undefined) return null;
  const [place] = await sql<[Place?]>`
    select created_at::text as at from ledger_find_receipts(array[${after}])
     where account_id = ${account}`;
  if (place !== undefined) return place;
  throw new ApiError("invalid_value", "after must be the id of a list's last entry.", {
    param: "after",
  });
}

/** One more row than the page has. Receipts whose ids are from before `since` are left out. */
async function readPage(
  sql: Queries,
  { account, limit, after, order, model, from, to }: UsageQuery,
  place: Place | null,
  since: number,
): Promise<ReceiptRow[]> {
  const isAscending = order === "asc";
  const direction = isAscending ? sql`asc` : sql`desc`;
  const firstId = since === 0 ? "" : idPrefixAt("req", since);
  const [afterAt, afterId] = [place?.at ?? null, after ?? null];
  const [forModel, fromAt, toAt] = [model ?? null, from ?? null, to ?? null];
  // The id orders requests with the same time.
  return await sql<ReceiptRow[]>`
    select id, request_id, client_request_id, key_id, end_user, metadata, endpoint, model, state, allocations, held,
           taken, shortfall, usage, price, created_at, resolved_at
      from ledger_list_receipts(${account}, ${isAscending}, ${afterAt}::text::timestamptz, ${afterId}, ${firstId},
                                ${forModel}, ${fromAt}, ${toAt}, ${limit + 1})
     order by created_at ${direction}, id ${direction} limit ${limit + 1}`;
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
