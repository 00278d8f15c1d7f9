import {
  type Account,
  createAccount,
  findAccount,
  type NewAccount,
} from "../../domain/accounts/accounts.ts";
import { type AuditedChange, differenceOf } from "../../domain/audit/audit.ts";
import { type Balance, readBalance } from "../../domain/ledger/balance.ts";
import { addCredit, type Credit } from "../../domain/ledger/credit.ts";
import { type NewPlan, setPlan } from "../../domain/ledger/plans.ts";

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
