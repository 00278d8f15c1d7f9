import type { Account } from "../domain/accounts/accounts.ts";
import type { ApiKey } from "../domain/accounts/api_keys.ts";
import type { Balance } from "../domain/ledger/balance.ts";
import { callAdminApi } from "./client.ts";
import { keyTable } from "./key.ts";
import { argument, type Command, optionText, table, UsageError } from "./command.ts";

interface List<T> {
  data: T[];
  has_more: boolean;
  last_id: string | null;
}

const PAGE_SIZE = 100;

export const accountCreate: Command = {
  usage: "account create <name> [--email <email>] [--plan <plan>] [--price-book <book>]",
  summary: "Create an account",
  endpoints: ["POST /admin/v1/accounts"],
  options: {
    email: { type: "string", summary: "Email address of the owner" },
    plan: { type: "string", summary: "Plan of the account (default: free)" },
    "price-book": { type: "string", summary: "Price book to use instead of the plan's" },
  },
  async run(terminal, args, options) {
    const account = await callAdminApi<Account>(terminal, "POST", "/accounts", {
      name: argument(args, 0, "name"),
      email: optionText(options, "email"),
      plan: optionText(options, "plan"),
      price_book: optionText(options, "price-book"),
    });
    terminal.print(
      account,
      `Account created: ${account.id} (${account.name}), plan ${account.plan}.`,
    );
    return 0;
  },
};

export const accountList: Command = {
  usage: "account list [--search <text>] [--limit <n>] [--after <id>]",
  summary: "List accounts, newest first",
  endpoints: ["GET /admin/v1/accounts"],
  options: {
    search: {
      type: "string",
      summary: "Part of an id, name or email; the last four characters of a key; a request id",
    },
    limit: { type: "string", summary: `Accounts to show (default ${PAGE_SIZE})` },
    after: { type: "string", summary: "Show the page after this account id" },
  },
  async run(terminal, _args, options) {
    const limit = optionText(options, "limit") ?? String(PAGE_SIZE);
    if (!/^\d+$/.test(limit)) throw new UsageError("--limit must be a whole number.");
    const after = optionText(options, "after");
    const search = optionText(options, "search");
    const query = new URLSearchParams({
      limit,
      ...(after === undefined ? {} : { after }),
      ...(search === undefined ? {} : { search }),
    });
    const list = await callAdminApi<List<Account>>(terminal, "GET", `/accounts?${query}`);
    const rows = list.data.map(({ id, name, email, plan, status }) => [
      id,
      name,
      plan,
      status,
      email ?? "",
    ]);
    const more = list.has_more ? `\n\nMore accounts: add --after ${list.last_id}` : "";
    terminal.print(
      list,
      rows.length === 0
        ? "No accounts."
        : table([["ID", "NAME", "PLAN", "STATUS", "EMAIL"], ...rows]) + more,
    );
    return 0;
  },
};

export const accountShow: Command = {
  usage: "account show <account>",
  summary: "Show an account with its balance, quotas, credits, price book and API keys",
  endpoints: ["GET /admin/v1/accounts/{id}", "GET /admin/v1/accounts/{id}/keys"],
  async run(terminal, args) {
    const id = encodeURIComponent(argument(args, 0, "account"));
    const account = await callAdminApi<Account & { balance: Balance }>(
      terminal,
      "GET",
      `/accounts/${id}`,
    );
    const { balance } = account;
    const keys = await callAdminApi<List<ApiKey>>(terminal, "GET", `/accounts/${id}/keys`);
    const details = table([
      ["id", account.id],
      ["name", account.name],
      ["status", account.status],
      [
        "plan",
        account.plan +
        (account.plan_expires_at === null ? "" : ` until ${account.plan_expires_at}`),
      ],
      ["email", account.email ?? "none"],
      ["price book", account.price_book ?? "of its plan"],
      ["available", `${balance.available_balance} ${balance.currency}`],
      ["cash", `${balance.cash_balance} ${balance.currency}`],
      ["credits", `${balance.gift_balance} ${balance.currency}`],
      ...Object.entries(balance.quotas).map(([kind, left]) => {
        const models = balance.quota_models?.[kind as keyof Balance["quotas"]];
        return [`${kind} quota`, `${left} left${models ? `, for ${models.join(", ")}` : ""}`];
      }),
      ["on hold", `${balance.frozen_balance} ${balance.currency}`],
      ["created", new Date(account.created * 1000).toISOString()],
    ]);
    terminal.print(
      { ...account, keys: keys.data },
      `${details}\n\n${keyTable(keys.data)}`,
    );
    return 0;
  },
};
