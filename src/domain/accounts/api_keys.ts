import { createHash } from "node:crypto";
import type { PendingQuery } from "postgres";
import { newId, newSecret } from "../../lib/ids.ts";
import { ApiError } from "../../lib/api_error.ts";
import {
  type KeyRestrictions,
  type RestrictionRow,
  toColumns,
  toRestrictions,
} from "./key_restrictions.ts";
import { trimDecimal } from "../../lib/money.ts";
import { toUnixSeconds } from "../../lib/unix_seconds.ts";
import type { Change } from "../../platform/cluster/change.ts";
import type { Queries } from "../../platform/database/database.ts";

/** What a key has spent in the current period of its budget; without a budget, ever. */
export interface KeySpend {
  /** Charged for requests that were accepted in the period. */
  amount: string;
  /** Kept for requests under way, up to their maximum price. */
  held: string;
  /** The beginning of the period; null: it has none. */
  since: string | null;
  renews_at: string | null;
}

export interface ApiKey extends KeyRestrictions {
  id: string;
  object: "api_key";
  account: string;
  name: string;
  last4: string;
  spend: KeySpend;
  created: number;
  last_used: number | null;
  revoked: number | null;
}

interface Row extends RestrictionRow {
  id: string;
  account_id: string;
  name: string;
  last4: string;
  created_at: Date;
  last_used_at: Date | null;
  revoked_at: Date | null;
  spent: string;
  held: string;
  since: Date | null;
  renews_at: Date | null;
}

/** Keys with the columns of their spend. */
function withSpend(sql: Queries, keys: PendingQuery<Row[]>): PendingQuery<Row[]> {
  return sql<Row[]>`
    with k as (${keys})
    select k.*, s.* from k, key_spending(k.id, k.account_id, k.budget_period, ledger_now()) s order by k.id`;
}

/** The stored form of a key. 256 random bits need no salt and no slow hash. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** Maximum number of keys per account that people create themselves: rate limits are per key. */
export const OWN_KEYS_MAX = 50;

/** Begins the names of keys that browser authorization creates; the rest is the client's name. */
export const BROWSER_KEY_PREFIX = "BA:";

/** Refuses a name that the next browser authorization of a client would take for its own, and revoke. */
export function checkKeyName(name: string): void {
  if (!name.startsWith(BROWSER_KEY_PREFIX)) return;
  throw new ApiError(
    "invalid_value",
    `Names starting with ${BROWSER_KEY_PREFIX} are reserved for browser authorization.`,
    { param: "name" },
  );
}

/** What is given with a new key. */
export interface KeyOptions extends Partial<KeyRestrictions> {
  /** No key is created where the account has so many already. */
  maxKeys?: number | null | undefined;
}

/** Creates a key. Its text is in the result and nowhere else. */
export async function createKey(
  sql: Queries,
  account: string,
  name: string,
  { maxKeys = null, ...restrictions }: KeyOptions = {},
): Promise<ApiKey & { key: string }> {
  const key = `sk-${newSecret()}`;
  const columns = { log_bodies: true, ...toColumns(restrictions) };
  const inserted = sql<Row[]>`
    insert into api_key (id, account_id, name, hash, last4, expires_at, models, requests_per_minute, tokens_per_minute,
                         allowed_ips, log_bodies, budget_amount, budget_period)
    select ${newId("key")}, id, ${name}, decode(${hashKey(key)}, 'hex'), ${key.slice(-4)}, ${
    columns.expires_at ?? null
  }::timestamptz, ${columns.models ?? null}::text[],
           ${columns.requests_per_minute ?? null}::int, ${columns.tokens_per_minute ?? null}::int,
           ${columns.allowed_ips ?? null}::text[], ${columns.log_bodies}, ${
    columns.budget_amount ?? null
  }::numeric, ${columns.budget_period ?? null}
      from account where id = ${account} and closed_at is null
       and (${maxKeys}::int is null or ${maxKeys}::int > (
         select count(*) from api_key where account_id = ${account} and revoked_at is null))
    returning *`;
  const [row] = await withSpend(sql, inserted);
  if (row === undefined && maxKeys !== null) {
    throw new ApiError(
      "invalid_value",
      `An account may have ${maxKeys} keys in use: revoke one that is not needed.`,
    );
  }
  if (row === undefined) {
    throw new ApiError("not_found", `There is no account ${JSON.stringify(account)}.`);
  }
  return { ...toApiKey(row), key };
}

/** Changes the name and the restrictions that are given; every node acts on them. A revoked key stays as it is. */
export async function updateKey(
  { sql, notify }: Change,
  id: string,
  { name, ...restrictions }: Partial<KeyRestrictions> & { name?: string | undefined },
): Promise<ApiKey> {
  const columns = { ...(name === undefined ? {} : { name }), ...toColumns(restrictions) };
  const [row] = await withSpend(
    sql,
    sql`update api_key set ${sql(columns)} where id = ${id} and revoked_at is null returning *`,
  );
  if (row === undefined) {
    throw new ApiError("not_found", `There is no key ${JSON.stringify(id)}, or it is revoked.`);
  }
  await notify("api_key", id);
  return toApiKey(row);
}

export async function findKey(sql: Queries, id: string): Promise<ApiKey> {
  const [row] = await withSpend(sql, sql`select * from api_key where id = ${id}`);
  if (row === undefined) {
    throw new ApiError("not_found", `There is no key ${JSON.stringify(id)}.`);
  }
  return toApiKey(row);
}

/** Revokes a key: no node accepts it any more. Revoking it again changes nothing. */
export async function revokeKey({ sql, notify }: Change, id: string): Promise<ApiKey> {
  const [row] = await withSpend(
    sql,
    sql`update api_key set revoked_at = coalesce(revoked_at, now()) where id = ${id} returning *`,
  );
  if (row === undefined) {
    throw new ApiError("not_found", `There is no key ${JSON.stringify(id)}.`);
  }
  await notify("api_key", id);
  return toApiKey(row);
}

export async function listKeys(sql: Queries, account: string): Promise<ApiKey[]> {
  const rows = await withSpend(sql, sql`select * from api_key where account_id = ${account}`);
  return rows.map(toApiKey);
}

function toApiKey(row: Row): ApiKey {
  return {
    id: row.id,
    object: "api_key",
    account: row.account_id,
    name: row.name,
    last4: row.last4,
    ...toRestrictions(row),
    spend: {
      amount: trimDecimal(row.spent),
      held: trimDecimal(row.held),
      since: row.since?.toISOString() ?? null,
      renews_at: row.renews_at?.toISOString() ?? null,
    },
    created: toUnixSeconds(row.created_at),
    last_used: toUnixSeconds(row.last_used_at),
    revoked: toUnixSeconds(row.revoked_at),
  };
}
