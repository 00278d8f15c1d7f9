import { ApiError } from "../../lib/api_error.ts";
import { newId, newSecret } from "../../lib/ids.ts";
import { toUnixSeconds } from "../../lib/unix_seconds.ts";
import type { Queries } from "../../platform/database/database.ts";
import { hashKey } from "./api_keys.ts";

/** What a token of the admin API may do, besides nothing: each endpoint needs one of these. */
export const ADMIN_SCOPES = ["read", "money", "configuration", "support"] as const;
export type AdminScope = (typeof ADMIN_SCOPES)[number];

/** What an endpoint needs. `root`: the root token, whatever scopes another token has. */
export type AdminAccess = AdminScope | "root";

export interface AdminToken {
  id: string;
  object: "admin_token";
  name: string;
  scopes: AdminScope[];
  last4: string;
  created: number;
  last_used: number | null;
  revoked: number | null;
}

export interface NewAdminToken {
  name: string;
  scopes: AdminScope[];
}

interface Row {
  id: string;
  name: string;
  scopes: AdminScope[];
  last4: string;
  created_at: Date;
  last_used_at: Date | null;
  revoked_at: Date | null;
}

/** Creates a token. Its text is in the result and nowhere else. */
export async function createAdminToken(
  sql: Queries,
  { name, scopes }: NewAdminToken,
): Promise<AdminToken & { token: string }> {
  const token = `adm-${newSecret()}`;
  const [row] = await sql<[Row]>`
    insert into admin_token (id, name, scopes, hash, last4)
    values (${newId("adm")}, ${name}, ${scopes}, decode(${hashKey(token)}, 'hex'), ${
    token.slice(-4)
  })
    returning *`;
  return { ...toAdminToken(row), token };
}

/** Revokes a token. Revoking it again changes nothing. */
export async function revokeAdminToken(sql: Queries, id: string): Promise<AdminToken> {
  const [row] = await sql<[Row?]>`
    update admin_token set revoked_at = coalesce(revoked_at, now()) where id = ${id} returning *`;
  if (row === undefined) {
    throw new ApiError("not_found", `There is no admin token ${JSON.stringify(id)}.`);
  }
  return toAdminToken(row);
}

/** All tokens, the newest first. */
export async function listAdminTokens(sql: Queries): Promise<AdminToken[]> {
  return (await sql<Row[]>`select * from admin_token order by id desc`).map(toAdminToken);
}

/**
 * The token with this text; null if there is none, or it was revoked. Asks the database every time, so that a
 * revoked token is refused by every node at once: operators make few requests.
 */
export async function authenticateAdminToken(
  sql: Queries,
  token: string,
): Promise<AdminToken | null> {
  const [row] = await sql<[Row?]>`
    with found as (
      select id from admin_token where hash = decode(${
    hashKey(token)
  }, 'hex') and revoked_at is null),
    used as (
      update admin_token set last_used_at = now()
       where id = (select id from found)
         and coalesce(last_used_at < now() - interval '1 minute', true))
    select * from admin_token where id = (select id from found)`;
  return row === undefined ? null : toAdminToken(row);
}

function toAdminToken(row: Row): AdminToken {
  return {
    id: row.id,
    object: "admin_token",
    name: row.name,
    scopes: row.scopes,
    last4: row.last4,
    created: toUnixSeconds(row.created_at),
    last_used: toUnixSeconds(row.last_used_at),
    revoked: toUnixSeconds(row.revoked_at),
  };
}
