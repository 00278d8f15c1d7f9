import type { Account } from "../domain/accounts/accounts.ts";
import type { Balance } from "../domain/ledger/balance.ts";
import type { AccountPreview } from "../workflows/accounts/preview_change.ts";
import { callAdminApi } from "./client.ts";
import {
  argument,
  type Command,
  type Options,
  optionText,
  table,
  type Terminal,
  UsageError,
} from "./command.ts";

type AccountWithBalance = Account & { balance: Balance };

function patch(terminal: Terminal, args: string[], body: object): Promise<AccountWithBalance> {
  const id = encodeURIComponent(argument(args, 0, "account"));
  return callAdminApi<AccountWithBalance>(terminal, "PATCH", `/accounts/${id}`, body);
}

const FIELDS = ["name", "email", "plan", "price-book"] as const;

/** The fields of an account that are set; an empty address or price book is removed. */
function fieldsOf(options: Options): Record<string, string | null> {
  const set = FIELDS.map((name) => [name, optionText(options, name)] as const)
    .filter((entry): entry is [typeof FIELDS[number], string] => entry[1] !== undefined);
  const isRemoved = (name: string, value: string) =>
    value === "" && (name === "email" || name === "price-book");
  return Object.fromEntries(
    set.map(([name, value]) => [name.replace("-", "_"), isRemoved(name, value) ? null : value]),
  );
}

export const accountUpdate: Command = {
  usage: "account update <account> [--name <name>] [--email <email>] [--plan <plan>] " +
    "[--price-book <book>] [--preview]",
  summary: "Change the name, email address, plan or price book of an account",
  endpoints: ["PATCH /admin/v1/accounts/{id}", "GET /admin/v1/accounts/{id}/preview"],
  options: {
    name: { type: "string", summary: "New name" },
    email: { type: "string", summary: 'New email address; "" removes it' },
    plan: { type: "string", summary: "New plan; its quotas are granted" },
    "price-book": { type: "string", summary: 'Price book instead of the plan\'s; "" removes it' },
    preview: { type: "boolean", summary: "Show what plan and price book would change, and stop" },
  },
  async run(terminal, args, options) {
    const fields = fieldsOf(options);
    if (Object.keys(fields).length === 0) throw new UsageError("Say what to change.");
    if (options.preview === true) return await preview(terminal, args, fields);
    const account = await patch(terminal, args, fields);
    terminal.print(
      account,
      `Account changed: ${account.id} (${account.name}), plan ${account.plan}, price book ${
        account.price_book ?? "of the plan"
      }.`,
    );
    return 0;
  },
};

async function preview(
  terminal: Terminal,
  args: string[],
  { plan, price_book }: Record<string, string | null>,
): Promise<number> {
  const id = encodeURIComponent(argument(args, 0, "account"));
  const query = new URLSearchParams({
    ...(plan === undefined || plan === null ? {} : { plan }),
    ...(price_book === undefined ? {} : { price_book: price_book ?? "" }),
  });
  const found = await callAdminApi<AccountPreview>(
    terminal,
    "GET",
    `/accounts/${id}/preview?${query}`,
  );
  const rows = [
    ["plan", found.plan.before, found.plan.after],
    ["price book", found.price_book.before ?? "none", found.price_book.after ?? "none"],
    ...Object.keys(found.limits.after).map((name) => [
      name,
      String(found.limits.before[name]),
      String(found.limits.after[name]),
    ]),
    ...Object.keys(found.quotas.after).map((name) => [
      `quota ${name}`,
      formatQuota(found.quotas.before[name]),
      formatQuota(found.quotas.after[name]),
    ]),
    ...found.prices.map(({ model, before, after }) => [
      `price of ${model}`,
      before === null ? "none" : JSON.stringify(before),
      after === null ? "none" : JSON.stringify(after),
    ]),
  ];
  terminal.print(found, table([["", "NOW", "THEN"], ...rows]));
  return 0;
}

function formatQuota(quota: AccountPreview["quotas"]["after"][string] | undefined): string {
  return typeof quota === "object" ? `${quota.amount} for ${quota.models.join(", ")}` : `${quota}`;
}

/** A command that sets the status of an account. */
function statusCommand(
  name: "suspend" | "resume" | "close",
  { status, summary, said }: { status: Account["status"]; summary: string; said: string },
): Command {
  return {
    usage: `account ${name} <account> [--reason <text>]`,
    summary,
    endpoints: ["PATCH /admin/v1/accounts/{id}"],
    options: { reason: { type: "string", summary: "Why, for the audit log" } },
    async run(terminal, args, options) {
      const reason = optionText(options, "reason");
      const account = await patch(terminal, args, { status, reason });
      const { available_balance, currency } = account.balance;
      terminal.print(
        account,
        `Account ${said}: ${account.id} (${account.name}). Available: ${available_balance} ${currency}.`,
      );
      return 0;
    },
  };
}

export const accountSuspend = statusCommand("suspend", {
  status: "suspended",
  summary:
    "Refuse every request and session of an account, on every node before the command returns",
  said: "suspended",
});

export const accountResume = statusCommand("resume", {
  status: "active",
  summary: "Let a suspended account work again",
  said: "active again",
});

export const accountClose = statusCommand("close", {
  status: "closed",
  summary: "Close an account for ever: ends its keys, sessions, webhook endpoints and tasks",
  said: "closed",
});
