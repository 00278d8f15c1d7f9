import type { Account } from "../domain/accounts/accounts.ts";
import type { Balance } from "../domain/ledger/balance.ts";
import type { LedgerCheck } from "../domain/ledger/verify.ts";
import { callAdminApi } from "./client.ts";
import { argument, type Command, optionText, table, UsageError } from "./command.ts";

interface Credited {
  kind: string;
  amount: string;
  reference: string;
  replayed: boolean;
  balance: Balance;
}

export const accountCredit: Command = {
  usage: "account credit <account> <amount> --reference <text> [--gift] [--expires-at <time>]",
  summary: "Add credit to an account; a repeated reference is booked only once",
  endpoints: ["POST /admin/v1/accounts/{id}/credits"],
  options: {
    reference: {
      type: "string",
      summary: "Unique reference of the booking, such as an invoice number",
    },
    gift: { type: "boolean", summary: "Promotional credit instead of cash" },
    "expires-at": {
      type: "string",
      summary: "When promotional credit expires, such as 2027-01-01T00:00:00Z",
    },
  },
  async run(terminal, args, options) {
    const reference = optionText(options, "reference");
    if (reference === undefined) throw new UsageError("Missing option: --reference <text>.");
    const id = encodeURIComponent(argument(args, 0, "account"));
    const booked = await callAdminApi<Credited>(terminal, "POST", `/accounts/${id}/credits`, {
      kind: options.gift === true ? "gift" : "cash",
      amount: argument(args, 1, "amount"),
      reference,
      expires_at: optionText(options, "expires-at"),
    });
    const { available_balance, currency } = booked.balance;
    const kind = booked.kind === "gift" ? "promotional credit" : booked.kind;
    const amount = `${booked.amount} ${currency} ${kind}, reference "${booked.reference}"`;
    terminal.print(
      booked,
      `${
        booked.replayed ? "Already booked, not added again:" : "Credit added:"
      } ${amount}. Available: ${available_balance} ${currency}.`,
    );
    return 0;
  },
};

export const accountCorrect: Command = {
  usage: "account correct <account> <amount> --reference <text> --reason <text>",
  summary: "Take cash from an account (-5.00) or give it back (5.00), with a reason",
  endpoints: ["POST /admin/v1/accounts/{id}/credits"],
  options: {
    reference: { type: "string", summary: "Unique reference of the booking" },
    reason: { type: "string", summary: "Why; the statement shows it" },
  },
  async run(terminal, args, options) {
    const [reference, reason] = ["reference", "reason"].map((name) => optionText(options, name));
    if (reference === undefined) throw new UsageError("Missing option: --reference <text>.");
    if (reason === undefined) throw new UsageError("Missing option: --reason <text>.");
    const id = encodeURIComponent(argument(args, 0, "account"));
    const amount = argument(args, 1, "amount");
    const body = { kind: "correction", amount, reference, reason };
    const path = `/accounts/${id}/credits`;
    const booked = await callAdminApi<Credited>(terminal, "POST", path, body);
    const { available_balance, currency } = booked.balance;
    terminal.print(
      booked,
      `${
        booked.replayed ? "Already booked, not booked again:" : "Correction booked:"
      } ${amount} ${currency}, ` +
        `reference "${reference}". Available: ${available_balance} ${currency}.`,
    );
    return 0;
  },
};

export const accountPlan: Command = {
  usage: "account plan <account> <plan> [--expires-at <time>]",
  summary: "Change the plan of an account and grant its quotas",
  endpoints: ["PUT /admin/v1/accounts/{id}/plan"],
  options: {
    "expires-at": {
      type: "string",
      summary: "When the plan ends (default: it renews every month)",
    },
  },
  async run(terminal, args, options) {
    const id = encodeURIComponent(argument(args, 0, "account"));
    const account = await callAdminApi<Account & { balance: Balance }>(
      terminal,
      "PUT",
      `/accounts/${id}/plan`,
      {
        plan: argument(args, 1, "plan"),
        expires_at: optionText(options, "expires-at"),
      },
    );
    const { text: tokens, image, video } = account.balance.quotas;
    const until = account.plan_expires_at === null ? "" : ` until ${account.plan_expires_at}`;
    terminal.print(
      account,
      `${account.name} is on the plan ${account.plan}${until}. Quotas left this month: ${tokens} tokens, ${image} images, ${video} s of video.`,
    );
    return 0;
  },
};

export const ledgerVerify: Command = {
  usage: "ledger verify [--archives]",
  summary: "Check the invariants of the ledger; exit code 1 when one is violated",
  endpoints: ["GET /admin/v1/ledger/verify"],
  options: {
    archives: { type: "boolean", summary: "Also read the files of archived months" },
  },
  async run(terminal, _args, { archives }) {
    const result = await callAdminApi<{ ok: boolean; checks: LedgerCheck[] }>(
      terminal,
      "GET",
      archives === true ? "/ledger/verify?archives=true" : "/ledger/verify",
    );
    const rows = result.checks.map(({ name, ok, detail }) => [ok ? "ok" : "FAILED", name, detail]);
    terminal.print(
      result,
      `${table(rows)}\n\n${result.ok ? "All checks passed." : "At least one check FAILED."}`,
    );
    return result.ok ? 0 : 1;
  },
};
