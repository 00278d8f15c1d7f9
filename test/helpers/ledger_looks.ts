import { ApiError } from "../../src/lib/api_error.ts";
import type { TestLedger } from "./open_ledger.ts";

/** The money of a balance, without the rest. */
export async function money(ledger: TestLedger) {
  const { available_balance, frozen_balance, cash_balance, gift_balance } = await ledger.balance();
  return {
    available: available_balance,
    frozen: frozen_balance,
    cash: cash_balance,
    gift: gift_balance,
  };
}

export const isShort = (error: unknown) =>
  error instanceof ApiError && error.code === "insufficient_balance";

/** Changes what nothing may change, so that a check can be seen to find it. */
export async function damageReceipts({ sql }: TestLedger, damage: string): Promise<void> {
  await sql.unsafe(`
    alter table receipt disable trigger user;
    alter table receipt_correction disable trigger user;
    ${damage}`);
}

/** What the system's own accounts have received (positive) or given (negative). */
export async function systemBalance(ledger: TestLedger, name: string): Promise<string> {
  const [row] = await ledger.sql<[{ amount: string }]>`
    select trim_scale(coalesce(sum(case credit when ${name} then amount else -amount end), 0)) as amount
      from transfer where ${name} in (debit, credit)`;
  return row.amount;
}
