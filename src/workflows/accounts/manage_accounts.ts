import {
  type Account,
  type AccountFields,
  createAccount,
  findAccount,
  type NewAccount,
  updateAccount,
} from "../../domain/accounts/accounts.ts";
import {
  type Actor,
  type AuditDeps,
  audited,
  type AuditedChange,
  differenceOf,
} from "../../domain/audit/audit.ts";
import { type Balance, readBalance } from "../../domain/ledger/balance.ts";
import {
  addCredit,
  type Adjusted,
  type Adjustment,
  type Credit,
  readAdjusted,
  tryAdjust,
} from "../../domain/ledger/credit.ts";
import { type NewPlan, setPlan } from "../../domain/ledger/plans.ts";
import { ReservedRetry } from "../../domain/ledger/retry_reserved.ts";
import { expireRows } from "../../domain/files/rows.ts";
import { removeEndpointsOf } from "../../domain/webhooks/endpoints.ts";
import type { Queries } from "../../platform/database/database.ts";
import { requestCancelAll } from "../tasks/cancel_task.ts";

/** Creates an account. */
export async function openAccount(
  { sql, audit }: AuditedChange,
  fields: NewAccount,
): Promise<Account> {
  const account = await createAccount(sql, fields);
  const { id } = account;
  await audit({ action: "account.create", account: id, subject: id, after: account });
  return account;
}

/** Books money into an account; the same reference once. */
export async function bookCredit(
  { sql, audit }: AuditedChange,
  credit: Credit,
  currency: string,
): Promise<{ isFirst: boolean; balance: Balance }> {
  const { account, kind, amount, reference, expiresAt } = credit;
  const before = await readBalance(sql, account, currency);
  const { isFirst } = await addCredit(sql, credit);
  const balance = await readBalance(sql, account, currency);
  if (isFirst) {
    await audit({
      action: "account.credit",
      account,
      subject: account,
      before: { available_balance: before.available_balance },
      after: {
        available_balance: balance.available_balance,
        credit: { kind, amount, reference, expires_at: expiresAt ?? null },
      },
    });
  }
  return { isFirst, balance };
}

/**
 * Takes money from an account or gives it back, with a reason; the same reference once. Makes its own transactions:
 * nodes return what they have only reserved when the one that asks for it has ended.
 */
export async function bookCorrection(
  deps: AuditDeps,
  actor: Actor,
  correction: Adjustment,
  currency: string,
): Promise<{ isFirst: boolean; balance: Balance }> {
  const { account } = correction;
  const attempt = () =>
    audited(deps, actor, (change) => tryCorrection(change, correction, currency));
  const adjusted = await new ReservedRetry(deps.database.sql).run(account, attempt);
  return { ...readAdjusted(adjusted, account), balance: adjusted.balance };
}

async function tryCorrection(
  { sql, audit }: AuditedChange,
  correction: Adjustment,
  currency: string,
): Promise<Adjusted & { balance: Balance }> {
  const { account, ...booked } = correction;
  const before = await readBalance(sql, account, currency);
  const adjusted = await tryAdjust(sql, correction);
  const balance = await readBalance(sql, account, currency);
  if (adjusted.outcome === "booked") {
    await audit({
      action: "account.correct",
      account,
      subject: account,
      before: { available_balance: before.available_balance },
      after: { available_balance: balance.available_balance, correction: booked },
    });
  }
  return { ...adjusted, balance };
}

/** What an operator changes of an account. */
export interface AccountUpdate extends AccountFields {
  plan?: string | undefined;
  /** Why; for the audit log. */
  reason?: string | undefined;
}

/** Days until the files of a closed account are deleted. */
export const CLOSED_FILES_DAYS = 30;

/**
 * Changes an account. A suspended or closed one is refused on every node, and its streams end, before this is answered.
 * Closing also ends keys, sessions, webhook endpoints and running tasks; files go after a while. `notifyTask` is
 * called for each task that is to be cancelled.
 */
export async function changeAccount(
  change: AuditedChange,
  id: string,
  { plan, reason, ...fields }: AccountUpdate,
  notifyTask: (task: string) => void,
): Promise<Account> {
  const { sql, notify, audit, afterCommit } = change;
  const before = await findAccount(sql, id);
  // The same plan again would move its end.
  if (plan !== undefined && plan !== before.plan) await setPlan(change, { account: id, plan });
  const after = await updateAccount(sql, id, fields);
  const isStopped = after.status !== "active" && after.status !== before.status;
  if (isStopped && after.status === "closed") {
    const cancelled = await endAccount(sql, id);
    afterCommit(() => cancelled.forEach(notifyTask));
  }
  await notify(isStopped ? "account_stopped" : "account", id);
  const changed = differenceOf(before, after);
  await audit({
    action: "account.update",
    account: id,
    subject: id,
    before: changed.before,
    after: { ...changed.after, ...(reason === undefined ? {} : { reason }) },
  });
  return after;
}

/** Ends what a closed account has at work. Returns its tasks that are to be cancelled. */
async function endAccount(sql: Queries, account: string): Promise<string[]> {
  await sql`
    update api_key set revoked_at = now() where account_id = ${account} and revoked_at is null`;
  await sql`update person set session_epoch = session_epoch + 1 where account_id = ${account}`;
  await removeEndpointsOf(sql, account);
  await expireRows(sql, account, CLOSED_FILES_DAYS);
  return await requestCancelAll(sql, account);
}

/** Puts an account on a plan and grants its quotas. */
export async function switchPlan(change: AuditedChange, plan: NewPlan): Promise<Account> {
  const { sql, audit } = change;
  const { account: id } = plan;
  const before = await findAccount(sql, id);
  await setPlan(change, plan);
  const account = await findAccount(sql, id);
  await audit({
    action: "account.update",
    account: id,
    subject: id,
    ...differenceOf(before, account),
  });
  return account;
}
