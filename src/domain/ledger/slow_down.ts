import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Database, Queries } from "../../platform/database/database.ts";

export interface SlowDownOptions {
  /** So many receipts with a shortfall … */
  shortfalls: number;
  /** … within this time … */
  withinSeconds: number;
  /** … slow the account for this long. */
  forSeconds: number;
}

const DEFAULTS: SlowDownOptions = { shortfalls: 3, withinSeconds: 3600, forSeconds: 3600 };

/**
 * Slows down an account whose requests repeatedly cost more than it could pay. To be called after a settlement
 * with a shortfall; all nodes are notified. True when the account is slowed from now on.
 */
export async function slowDownIfRepeated(
  { sql }: Database,
  cluster: Cluster,
  account: string,
  { shortfalls, withinSeconds, forSeconds }: SlowDownOptions = DEFAULTS,
): Promise<boolean> {
  const mark = await sql.begin(async (tx) => {
    const slowed = await tx`
      update account set slowed_until = ledger_now() + make_interval(secs => ${forSeconds})
       where id = ${account}
         and coalesce(slowed_until <= ledger_now(), true)
         and (select count(*) from (
               select from final_receipt
                where account_id = ${account} and shortfall > 0
                  and resolved_at > greatest(
                    ledger_now() - make_interval(secs => ${withinSeconds}),
                    -- What it was slowed for before does not count again.
                    (select slowed_until from account where id = ${account}))
                limit ${shortfalls}) recent) >= ${shortfalls}`;
    return slowed.count === 0 ? null : await cluster.record(tx, "account", account);
  });
  if (mark === null) return false;
  await cluster.awaitPeers(mark);
  return true;
}

/** When an account's slow-down ends, as `Date.now()`; 0 if it was never slowed down. */
export async function slowedUntil(sql: Queries, account: string): Promise<number> {
  const [row] = await sql<[{ slowed_until: Date | null }?]>`
    select slowed_until from account where id = ${account}`;
  return row?.slowed_until?.getTime() ?? 0;
}
