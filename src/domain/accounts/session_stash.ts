import { newSecret } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";
import { sealText, type SessionSecret, ticketHash, unsealText } from "./session_seal.ts";

/** How long text waits for the page after a redirect. */
export const STASH_SECONDS = 600;

/** Keeps text for a page of the same session. The ticket finds it again. */
export async function stashText(
  sql: Queries,
  session: SessionSecret,
  text: string,
): Promise<string> {
  const ticket = newSecret();
  await sql`
    insert into session_stash (ticket_hash, session_hash, sealed_text, expires_at)
    values (${ticketHash(ticket)}, ${session.hash}, ${sealText(session.secret, ticket, text)},
            now() + make_interval(secs => ${STASH_SECONDS}))`;
  return ticket;
}

/** The text of a ticket, as often as it is asked for; null when it is unknown or has expired. */
export async function readStash(
  sql: Queries,
  session: SessionSecret,
  ticket: string,
): Promise<string | null> {
  const [row] = await sql<[Row?]>`
    select sealed_text from session_stash
     where ticket_hash = ${ticketHash(ticket)} and session_hash = ${session.hash}
       and expires_at > now()`;
  return row === undefined ? null : unsealText(session.secret, ticket, row.sealed_text);
}

/** The text of a ticket, once; null from the second time on. */
export async function takeStash(
  sql: Queries,
  session: SessionSecret,
  ticket: string,
): Promise<string | null> {
  const [row] = await sql<[Row?]>`
    delete from session_stash
     where ticket_hash = ${ticketHash(ticket)} and session_hash = ${session.hash}
       and expires_at > now()
    returning sealed_text`;
  return row === undefined ? null : unsealText(session.secret, ticket, row.sealed_text);
}

interface Row {
  sealed_text: Uint8Array;
}
