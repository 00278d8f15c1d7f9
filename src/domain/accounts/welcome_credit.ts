import type { Queries } from "../../platform/database/database.ts";

/** Credits that one network gets on one day (UTC). */
export const WELCOME_CREDITS_PER_NETWORK = 3;

/**
 * Whether a new person gets the welcome credit: an address once, also after its account was deleted,
 * and a network a few times a day. Checks and counts in one statement, of the transaction that books it.
 */
export async function claimWelcomeCredit(
  sql: Queries,
  { email, network }: { email: string; network: string },
): Promise<boolean> {
  const today = sql`(now() at time zone 'utc')::date`;
  const [row] = await sql<[{ is_granted: boolean }]>`
    with hashed as (
      select sha256(secret || convert_to(${email}, 'UTF8')) as address,
             sha256(secret || convert_to(${network}, 'UTF8')) as network
        from welcome_credit_secret),
    counted as (
      insert into welcome_credit_network as n (network_hash, day, granted)
      select network, ${today}, 1 from hashed
       where not exists (select from welcome_credit where address_hash = hashed.address)
      on conflict (network_hash, day) do update set granted = n.granted + 1
        where n.granted < ${WELCOME_CREDITS_PER_NETWORK}
      returning network_hash),
    granted as (
      insert into welcome_credit (address_hash)
      select address from hashed where exists (select from counted)
      on conflict do nothing
      returning address_hash),
    over as (delete from welcome_credit_network where day < ${today} - 1)
    select exists (select from granted) as is_granted`;
  return row.is_granted;
}
