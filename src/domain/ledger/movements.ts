import { trimDecimal } from "../../lib/money.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { UsageKind } from "../../model_types/usage.ts";
import type { Queries } from "../../platform/database/database.ts";

/** A movement into or out of an account. */
export interface Movement {
  id: string;
  at: Date;
  kind: "credit" | "grant" | "capture" | "breakage" | "adjustment";
  unit: "money" | UsageKind;
  /** Positive into the account, negative out of it. */
  amount: string;
  source: "cash" | "gift" | "quota";
  request_id: string | null;
  /** What the request used. */
  model: string | null;
  reference: string | null;
  reason: string | null;
}

export interface MovementQuery {
  account: string;
  limit: number;
  after?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

interface Row extends Omit<Movement, "at"> {
  created_at: Date;
}

/** An account's movements, newest first. */
export async function listMovements(
  sql: Queries,
  { account, limit, after, from, to }: MovementQuery,
): Promise<{ data: Movement[]; hasMore: boolean }> {
  const place = after === undefined ? null : await findPlace(sql, account, after);
  if (place === undefined) {
    throw new ApiError("not_found", "There is no such entry in the statement.");
  }
  const rows = await sql<Row[]>`
    select t.id, t.created_at, t.kind, t.unit, t.request_id, t.reference, t.reason, t.model,
           case when t.credit ~ '^(cash|gift|quota):' then t.amount else -t.amount end as amount,
           split_part(case when t.credit ~ '^(cash|gift|quota):' then t.credit else t.debit end,
                      ':', 1) as source
      from movement t
     where t.account_id = ${account}
       -- A shortfall moves nothing in the account.
       and t.kind <> 'shortfall'
       ${
    place === null
      ? sql``
      : sql`and (t.created_at, t.id) < (${place.at}::text::timestamptz, ${after!})`
  }
       ${from === undefined ? sql`` : sql`and t.created_at >= ${from}`}
       ${to === undefined ? sql`` : sql`and t.created_at < ${to}`}
     order by t.created_at desc, t.id desc limit ${limit + 1}`;
  return {
    data: rows.slice(0, limit).map(({ created_at, amount, ...row }) => ({
      ...row,
      at: created_at,
      amount: trimDecimal(amount, row.unit === "money" ? 2 : 0),
    })),
    hasMore: rows.length > limit,
  };
}

/** When a movement was booked. What a request paid has its receipt's id, a slash and a number. */
async function findPlace(
  sql: Queries,
  account: string,
  id: string,
): Promise<{ at: string } | undefined> {
  const [place] = await sql<[{ at: string }?]>`
    select created_at::text as at from transfer where id = ${id} and account_id = ${account}
    union all
    select resolved_at::text from receipt
     where id = ${id.split("/")[0]!} and id <> ${id} and account_id = ${account}`;
  return place;
}

/** A credit or a month's quota that is not used up. */
export interface CreditGrant {
  id: string;
  source: "gift" | "quota";
  unit: Movement["unit"];
  granted: string;
  remaining: string;
  frozen: string;
  created_at: Date;
  ends_at: Date | null;
}

/** What an account has beside cash, in the order of use. */
export async function listCreditGrants(sql: Queries, account: string): Promise<CreditGrant[]> {
  const rows = await sql<CreditGrant[]>`
    select p.id, source, unit, granted, remaining, frozen - coalesce(i.amount, 0) as frozen, created_at, ends_at
      from balance_bucket p left join idle_reserve i on i.account_id = p.account_id and i.bucket = p.id
     where p.account_id = ${account} and is_open and source <> 'cash' and ended_at is null
       and (ends_at is null or ends_at > ledger_now())
     order by source, unit, ends_at, p.id`;
  return rows.map((row) => {
    const decimals = row.unit === "money" ? 2 : 0;
    const trim = (amount: string) => trimDecimal(amount, decimals);
    return {
      ...row,
      granted: trim(row.granted),
      remaining: trim(row.remaining),
      frozen: trim(row.frozen),
    };
  });
}
