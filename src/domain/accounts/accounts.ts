import { newId, timeOfId } from "../../lib/ids.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { AccountStatus } from "./account_status.ts";
import type { Queries } from "../../platform/database/database.ts";

export interface Account {
  id: string;
  object: "account";
  name: string;
  email: string | null;
  plan: string;
  plan_expires_at: string | null;
  price_book: string | null;
  status: AccountStatus;
  created: number;
}

interface Row {
  id: string;
  name: string;
  email: string | null;
  plan: string;
  plan_expires_at: Date | null;
  price_book: string | null;
  suspended_at: Date | null;
  closed_at: Date | null;
  created_at: Date;
}

export interface NewAccount {
  name: string;
  email?: string | undefined;
  plan?: string | undefined;
  price_book?: string | undefined;
}

export interface AccountPageQuery {
  limit: number;
  after?: string | undefined;
  order: "asc" | "desc";
}

export interface AccountList<T> {
  data: T[];
  hasMore: boolean;
}

export async function createAccount(sql: Queries, account: NewAccount): Promise<Account> {
  const [row] = await sql<[Row?]>`
    insert into account (id, name, email, plan, price_book)
    values (${newId("acc")}, ${account.name}, ${account.email ?? null}, ${account.plan ?? "free"},
            ${account.price_book ?? null})
    on conflict ((lower(email))) where email is not null do nothing
    returning *`;
  if (row === undefined) throw emailTaken();
  return toAccount(row);
}

function emailTaken(): ApiError {
  return new ApiError("invalid_value", "Another account has this e-mail address already.", {
    param: "email",
  });
}

/** Fields of an account that an operator changes. Null removes an address or a price book. */
export interface AccountFields {
  name?: string | undefined;
  email?: string | null | undefined;
  price_book?: string | null | undefined;
  status?: AccountStatus | undefined;
}

/** Changes the given fields. A closed account stays closed. */
export async function updateAccount(
  sql: Queries,
  id: string,
  { name, email, price_book, status }: AccountFields,
): Promise<Account> {
  const [row] = await sql<[Row?]>`
    update account
       set name = coalesce(${name ?? null}, name),
           email = case when ${email !== undefined} then ${email ?? null}::text else email end,
           price_book = case when ${price_book !== undefined} then ${
    price_book ?? null
  }::text else price_book end,
           suspended_at = case ${
    status ?? null
  }::text when 'suspended' then coalesce(suspended_at, now())
                               when 'active' then null else suspended_at end,
           closed_at = case ${status ?? null}::text when 'closed' then coalesce(closed_at, now())
                            else closed_at end
     where id = ${id} and (closed_at is null or ${status ?? "closed"} = 'closed')
    returning *`.catch(refuseTakenEmail);
  if (row !== undefined) return toAccount(row);
  await findAccount(sql, id);
  throw new ApiError("invalid_value", "The account is closed: that is final.", {
    param: "status",
  });
}

const UNIQUE_VIOLATION = "23505";

function refuseTakenEmail(error: { code?: string }): never {
  throw error.code === UNIQUE_VIOLATION ? emailTaken() : error;
}

export async function findAccount(sql: Queries, id: string): Promise<Account> {
  const [row] = await sql<[Row?]>`select * from account where id = ${id}`;
  if (row === undefined) {
    throw new ApiError("not_found", `There is no account ${JSON.stringify(id)}.`);
  }
  return toAccount(row);
}

/**
 * Accounts in the order they were made; with `search`, those whose id, name or email contains it, that have a key with
 * these last four characters, or that made the request with this id.
 */
export async function listAccounts(
  sql: Queries,
  page: AccountPageQuery & { search?: string | undefined },
): Promise<AccountList<Account>> {
  const ascending = page.order === "asc";
  const after = page.after === undefined
    ? sql`true`
    : ascending
    ? sql`id > ${page.after}`
    : sql`id < ${page.after}`;
  const found = page.search === undefined || page.search === ""
    ? sql`true`
    : foundBy(sql, page.search);
  // Ids sort by creation, and one extra row shows whether there is a next page.
  const rows = await sql<Row[]>`
    select * from account where ${after} and ${found}
     order by id ${ascending ? sql`asc` : sql`desc`} limit ${page.limit + 1}`;
  return { data: rows.slice(0, page.limit).map(toAccount), hasMore: rows.length > page.limit };
}

function foundBy(sql: Queries, search: string) {
  const requestedAt = timeOfId(search);
  if (requestedAt !== null && search.startsWith("req_")) {
    // The request log is kept for days, receipts for years.
    return sql`
      id in (select account_id from request where created_at = ${new Date(
      requestedAt,
    )} and id = ${search}
             union all
             select account_id from receipt where id = ${search})`;
  }
  return sql`
    (strpos(lower(concat_ws(' ', id, name, email)), lower(${search})) > 0
     or id in (select account_id from api_key where last4 = ${search}))`;
}

export async function countAccounts(sql: Queries): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*)::int as count from account`;
  return row.count;
}

function toAccount(row: Row): Account {
  return {
    id: row.id,
    object: "account",
    name: row.name,
    email: row.email,
    plan: row.plan,
    plan_expires_at: row.plan_expires_at?.toISOString() ?? null,
    price_book: row.price_book,
    status: row.closed_at !== null ? "closed" : row.suspended_at !== null ? "suspended" : "active",
    created: Math.floor(row.created_at.getTime() / 1000),
  };
}
