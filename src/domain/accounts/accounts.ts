import { newId } from "../../lib/ids.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";

export interface Account {
  id: string;
  object: "account";
  name: string;
  email: string | null;
  plan: string;
  plan_expires_at: string | null;
  price_book: string | null;
  created: number;
}

interface Row {
  id: string;
  name: string;
  email: string | null;
  plan: string;
  plan_expires_at: Date | null;
  price_book: string | null;
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
  if (row === undefined) {
    throw new ApiError("invalid_value", "Another account has this e-mail address already.", {
      param: "email",
    });
  }
  return toAccount(row);
}

export async function findAccount(sql: Queries, id: string): Promise<Account> {
  const [row] = await sql<[Row?]>`select * from account where id = ${id}`;
  if (row === undefined) {
    throw new ApiError("not_found", `There is no account ${JSON.stringify(id)}.`);
  }
  return toAccount(row);
}

/** Accounts in the order they were made; with `search`, those whose id, name or email contains it. */
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
    : sql`strpos(lower(concat_ws(' ', id, name, email)), lower(${page.search})) > 0`;
  // Ids sort by creation, and one extra row shows whether there is a next page.
  const rows = await sql<Row[]>`
    select * from account where ${after} and ${found}
     order by id ${ascending ? sql`asc` : sql`desc`} limit ${page.limit + 1}`;
  return { data: rows.slice(0, page.limit).map(toAccount), hasMore: rows.length > page.limit };
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
    created: Math.floor(row.created_at.getTime() / 1000),
  };
}
