import { newSecret } from "../../lib/ids.ts";
import type { Change } from "../../platform/cluster/change.ts";
import type { Queries } from "../../platform/database/database.ts";
import { type ApiKey, BROWSER_KEY_PREFIX, createKey, OWN_KEYS_MAX } from "./api_keys.ts";
import { mustStillBeSignedIn, type Person } from "./people.ts";
import { sealText, type SessionSecret, ticketHash, unsealText } from "./session_seal.ts";
import { periodic } from "../../lib/timers.ts";
import { ignoreStorageUnavailable } from "../../platform/database/storage_error.ts";

/** What a program asks for by opening a browser. */
export interface GrantRequest {
  readonly client: string;
  readonly redirectUri: string;
  readonly state: string;
}

/** By a background request of the result page, or by a redirect of the page. */
export type GrantDelivery = "script" | "redirect";

/** How long a key waits to be delivered. */
export const GRANT_SECONDS = 60;

/** The name of the key that a client's authorizations share. */
export function keyNameOf(client: string): string {
  return `${BROWSER_KEY_PREFIX}${client}`;
}

/** A key for a client, and the ones that it replaces. */
export interface GrantedKey {
  /** For the result page. */
  readonly ticket: string;
  readonly created: ApiKey;
  readonly revoked: readonly string[];
}

/** Creates the client's key, revokes the one it had on every node, and stores the new one for delivery. */
export async function grantKey(
  { sql, notify }: Change,
  person: Person,
  request: GrantRequest,
  session: SessionSecret,
): Promise<GrantedKey> {
  const { account } = person;
  const name = keyNameOf(request.client);
  const ticket = newSecret();
  await mustStillBeSignedIn(sql, person);
  // Concurrent consents run one after the other: there is never a second key of that name.
  await sql`select from account where id = ${account} for no key update`;
  const ended = await sql<{ id: string }[]>`
    update api_key set revoked_at = now()
     where account_id = ${account} and name = ${name} and revoked_at is null
    returning id`;
  const { key, ...created } = await createKey(sql, account, name, { maxKeys: OWN_KEYS_MAX });
  await sql`
    insert into browser_grant
      (ticket_hash, session_hash, client, redirect_uri, state, sealed_key, expires_at)
    values (${ticketHash(ticket)}, ${session.hash}, ${request.client}, ${request.redirectUri},
            ${request.state}, ${sealText(session.secret, ticket, key)},
            now() + make_interval(secs => ${GRANT_SECONDS}))`;
  for (const { id } of ended) await notify("api_key", id);
  return { ticket, created, revoked: ended.map(({ id }) => id) };
}

/** The grant of a ticket, while it is valid and for the session that owns it. */
export async function findGrant(
  sql: Queries,
  ticket: string,
  session: SessionSecret,
): Promise<GrantRequest | null> {
  const [row] = await sql<[Row?]>`
    select client, redirect_uri, state, sealed_key from browser_grant
     where ticket_hash = ${ticketHash(ticket)} and session_hash = ${session.hash}
       and expires_at > now()`;
  return row === undefined ? null : requestOf(row);
}

/** Takes the key for one delivery; null if the grant has expired or this way of delivery was used. */
export async function takeKey(
  sql: Queries,
  ticket: string,
  session: SessionSecret,
  way: GrantDelivery,
): Promise<GrantRequest & { key: string } | null> {
  const used = way === "script" ? sql`script_delivered_at` : sql`redirect_delivered_at`;
  const [row] = await sql<[Row?]>`
    update browser_grant set ${used} = now()
     where ticket_hash = ${ticketHash(ticket)} and session_hash = ${session.hash}
       and expires_at > now() and ${used} is null
    returning client, redirect_uri, state, sealed_key`;
  return row === undefined
    ? null
    : { ...requestOf(row), key: unsealText(session.secret, ticket, row.sealed_key) };
}

/** Deletes expired grants and stashed text. */
export function startExpiryLoop(sql: Queries): Disposable {
  const deleteExpired = async () => {
    await sql`delete from browser_grant where expires_at < now()`;
    await sql`delete from session_stash where expires_at < now()`;
  };
  return periodic(deleteExpired, {
    intervalMs: GRANT_SECONDS * 1000,
    onError: ignoreStorageUnavailable,
  });
}

interface Row {
  client: string;
  redirect_uri: string;
  state: string;
  sealed_key: Uint8Array;
}

function requestOf(row: Row): GrantRequest {
  return { client: row.client, redirectUri: row.redirect_uri, state: row.state };
}
