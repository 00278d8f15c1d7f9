import { ApiError } from "../../lib/api_error.ts";
import type { AccountPlan } from "../../platform/config/config.ts";
import type { Change } from "../../platform/cluster/change.ts";
import type { Queries } from "../../platform/database/database.ts";
import { unknownAccount } from "./credit.ts";

/** Stores the quotas of the configured plans. They apply from the next grant or renewal on. */
export async function storePlans(
  sql: Queries,
  plans: Iterable<Pick<AccountPlan, "id" | "quotas">>,
): Promise<void> {
  const doc = JSON.stringify([...plans].map(({ id, quotas }) => ({ plan: id, ...quotas })));
  await sql`
    insert into plan_quota as q (plan, text, image, video)
    select plan, text, image, video from json_populate_recordset(null::plan_quota, ${doc}::text::json)
    order by plan
    on conflict (plan) do update
      set text = excluded.text, image = excluded.image, video = excluded.video
      where (q.text, q.image, q.video) is distinct from (excluded.text, excluded.image, excluded.video)`;
}

export interface NewPlan {
  account: string;
  plan: string;
  /** Unset: it renews every month without end. */
  expiresAt?: Date | undefined;
}

/**
 * Puts an account on a plan and grants its quotas. The rest of the old plan's quotas expires. The same plan
 * again only moves its end.
 */
export async function setPlan(
  { sql, notify }: Change,
  { account, plan, expiresAt }: NewPlan,
): Promise<void> {
  const [{ outcome }] = await sql<[{ outcome: string }]>`
    select ledger_set_plan(${account}, ${plan}, ${expiresAt ?? null}) as outcome`;
  if (outcome === "unknown") throw unknownAccount(account);
  if (outcome === "past") {
    throw new ApiError("invalid_value", "expires_at must lie in the future.", {
      param: "expires_at",
    });
  }
  if (outcome === "changed") await notify("account", account);
}
