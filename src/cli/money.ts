import type { Account } from "../domain/accounts/accounts.ts";
import type { Balance } from "../domain/ledger/balance.ts";
import type { LedgerCheck } from "../domain/ledger/verify.ts";
import { callAdminApi } from "./client.ts";
import { type Command, table, text, UsageError, word } from "./command.ts";

interface Credited {
  kind: string;
  amount: string;
  reference: string;
  replayed: boolean;
  balance: Balance;
}

export const accountCredit: Command = {
  usage: "account credit <account> <amount> --reference <text> [--gift] [--expires-at <time>]",
  summary: "Book money into an account; the same reference books once",
  options: {
    reference: {
      type: "string",
      summary: "Your own name for the booking, such as an invoice number",
    },
    gift: { type: "boolean", summary: "Gift credit instead of cash" },
    "expires-at": { type: "string", summary: "When a gift ends, such as 2027-01-01T00:00:00Z" },
  },
  async run(terminal, words, options) {
    const reference = text(options, "reference");
    if (reference === undefined) throw new UsageError("Name the booking: --reference <text>.");
    const id = encodeURIComponent(word(words, 0, "account"));
    const booked = await callAdminApi<Credited>(terminal, "POST", `/accounts/${id}/credits`, {
      kind: options.gift === true ? "gift" : "cash",
      amount: word(words, 1, "amount"),
      reference,
      expires_at: text(options, "expires-at"),
    });
    const { available_balance, currency } = booked.balance;
    terminal.print(
      booked,
      `${
        booked.replayed ? "Booked before:" : "Booked"
      } ${booked.amount} ${currency} ${booked.kind} as "${booked.reference}". Available: ${available_balance} ${currency}.`,
    );
    return 0;
  },
};

export const accountPlan: Command = {
  usage: "account plan <account> <plan> [--expires-at <time>]",
  summary: "Put an account on a plan and grant its quotas",
  options: {
    "expires-at": {
      type: "string",
      summary: "When the plan ends (default: it renews every month)",
    },
  },
  async run(terminal, words, options) {
    const id = encodeURIComponent(word(words, 0, "account"));
    const account = await callAdminApi<Account & { balance: Balance }>(
      terminal,
      "PUT",
      `/accounts/${id}/plan`,
      {
        plan: word(words, 1, "plan"),
        expires_at: text(options, "expires-at"),
      },
    );
    const { text: tokens, image, video } = account.balance.quotas;
    const until = account.plan_expires_at === null ? "" : ` until ${account.plan_expires_at}`;
    terminal.print(
      account,
      `${account.name} is on ${account.plan}${until}. Left this month: ${tokens} tokens, ${image} images, ${video} s of video.`,
    );
    return 0;
  },
};

export const ledgerVerify: Command = {
  usage: "ledger verify",
  summary: "Check every rule the books must obey; exit code 1 when one is broken",
  async run(terminal) {
    const result = await callAdminApi<{ ok: boolean; checks: LedgerCheck[] }>(
      terminal,
      "GET",
      "/ledger/verify",
    );
    const rows = result.checks.map(({ name, ok, detail }) => [ok ? "ok" : "WRONG", name, detail]);
    terminal.print(
      result,
      `${table(rows)}\n\n${result.ok ? "The books are in order." : "The books are NOT in order."}`,
    );
    return result.ok ? 0 : 1;
  },
};
