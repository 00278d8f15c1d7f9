import { decimal, trimDecimal } from "../../lib/money.ts";
import type { Funds } from "../pricing/funds.ts";
import type { UsageKind } from "../../model_types/usage.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import { unknownAccount } from "./credit.ts";

export interface Balance {
  object: "balance";
  currency: string;
  available_balance: string;
  frozen_balance: string;
  cash_balance: string;
  gift_balance: string;
  quotas: { text: number; image: number; video: number };
  /** The models that a quota is for; left out: all that use it. */
  quota_models?: { [kind in UsageKind]?: string[] };
  plan: { name: string; expires_at: string | null };
}

interface Row {
  cash: string;
  gift: string;
  frozen: string;
  available: string;
  gift_available: string;
  text: string;
  image: string;
  video: string;
  plan: string;
  plan_expires_at: Date | null;
}

/** What an account has. Cash and credits include what is frozen; quotas are what is left to use. */
export async function readBalance(
  sql: Queries,
  account: string,
  currency: string,
): Promise<Balance> {
  const row = await selectBalance(sql, account);
  return {
    object: "balance",
    currency,
    available_balance: trimDecimal(row.available),
    frozen_balance: trimDecimal(row.frozen),
    cash_balance: trimDecimal(row.cash),
    gift_balance: trimDecimal(row.gift),
    quotas: { text: Number(row.text), image: Number(row.image), video: Number(row.video) },
    plan: { name: row.plan, expires_at: row.plan_expires_at?.toISOString() ?? null },
  };
}

/**
 * A balance with what the configuration knows of its plan: the plan's name for people, and the models of its quotas. A
 * plan that is no longer configured has its id only.
 */
export function withPlanDetails(balance: Balance, plans: Config["plans"]): Balance {
  const { name: id, ...rest } = balance.plan;
  const plan = { name: plans.get(id)?.name ?? id, ...rest };
  const limited = Object.entries(plans.get(id)?.quotaModels ?? {});
  if (limited.length === 0) return { ...balance, plan };
  const shown = limited.map(([kind, models]) => [kind, [...models]]);
  return { ...balance, plan, quota_models: Object.fromEntries(shown) };
}

/** What an account can spend now. Nothing is held, so it promises nothing. */
export async function readFunds(sql: Queries, account: string): Promise<Funds> {
  const row = await selectBalance(sql, account);
  const [available, gift] = [decimal(row.available), decimal(row.gift_available)];
  return {
    gift,
    cash: available - gift,
    quotas: { text: BigInt(row.text), image: BigInt(row.image), video: BigInt(row.video) },
  };
}

/**
 * One statement, so one snapshot. It does not wait for the sweeper: a credit that has expired counts only as
 * far as holds still reserve it, and quotas that are due for renewal count as renewed.
 */
async function selectBalance(sql: Queries, account: string): Promise<Row> {
  const [row] = await sql<[Row?]>`
    with clock as materialized (select ledger_now() as now),
    term as (
      select a.id, w.renews_at <= now as is_due,
             case when a.plan_expires_at <= now then 'free' else a.plan end as plan,
             case when a.plan_expires_at <= now then null else a.plan_expires_at end as plan_expires_at
        from account a join wallet w on w.account_id = a.id, clock where a.id = ${account}),
    buckets as (
      select p.source, p.unit, p.remaining, p.frozen - coalesce(i.amount, 0) as frozen,
             ended_at is not null or coalesce(ends_at <= now, false) as is_over
        from clock, balance_bucket p left join idle_reserve i on i.account_id = p.account_id and i.bucket = p.id
       where p.account_id = ${account} and is_open),
    sums as (
      select coalesce(sum(remaining) filter (where source = 'cash'), 0) as cash,
             coalesce(sum(case when is_over then frozen else remaining end)
               filter (where source = 'gift'), 0) as gift,
             coalesce(sum(frozen) filter (where unit = 'money'), 0) as frozen,
             coalesce(sum(remaining - frozen) filter (where source = 'gift' and not is_over), 0)
               as gift_available,
             coalesce(sum(remaining - frozen) filter (where unit = 'text' and not is_over), 0) as text,
             coalesce(sum(remaining - frozen) filter (where unit = 'image' and not is_over), 0) as image,
             coalesce(sum(remaining - frozen) filter (where unit = 'video' and not is_over), 0) as video
        from buckets)
    select cash, gift, frozen, cash + gift - frozen as available, gift_available, t.plan, t.plan_expires_at,
           case when is_due then coalesce(q.text, 0) else trunc(sums.text)::bigint end as text,
           case when is_due then coalesce(q.image, 0) else trunc(sums.image)::bigint end as image,
           case when is_due then coalesce(q.video, 0) else trunc(sums.video)::bigint end as video
      from term t cross join sums left join plan_quota q on q.plan = t.plan`;
  if (row === undefined) throw unknownAccount(account);
  return row;
}

/** What accounts can spend, for lists of them. Quotas are not in it. */
export async function availableBalances(
  sql: Queries,
  accounts: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ account_id: string; available: string }[]>`
    select p.account_id, sum(case when ended_at is not null or ends_at <= ledger_now() then 0
                                  else remaining - frozen + coalesce(i.amount, 0) end) as available
      from balance_bucket p left join idle_reserve i on i.account_id = p.account_id and i.bucket = p.id
     where p.account_id = any (${accounts as string[]}) and is_open and unit = 'money'
     group by p.account_id`;
  return new Map(rows.map(({ account_id, available }) => [account_id, trimDecimal(available)]));
}
