import type { Account } from "../domain/accounts/accounts.ts";
import type { ApiKey } from "../domain/accounts/api_keys.ts";
import type { Balance } from "../domain/ledger/balance.ts";
import { callAdminApi } from "./client.ts";
import { type Command, table, text, UsageError, word } from "./command.ts";

interface List<T> {
  data: T[];
  has_more: boolean;
  last_id: string | null;
}

const PAGE = 100;

export const accountCreate: Command = {
  usage: "account create <name> [--email <address>] [--plan <plan>] [--price-book <book>]",
  summary: "Create an account",
  options: {
    email: { type: "string", summary: "Address of its owner" },
    plan: { type: "string", summary: "A declared plan (default: free)" },
    "price-book": { type: "string", summary: "A declared price book that comes before the plan's" },
  },
  async run(terminal, words, options) {
    const account = await callAdminApi<Account>(terminal, "POST", "/accounts", {
      name: word(words, 0, "account"),
      email: text(options, "email"),
      plan: text(options, "plan"),
      price_book: text(options, "price-book"),
    });
    terminal.print(account, `${account.id}  ${account.name}`);
    return 0;
  },
};

export const accountList: Command = {
  usage: "account list [--limit <n>] [--after <id>]",
  summary: "List accounts, newest first",
  options: {
    limit: { type: "string", summary: `How many (default ${PAGE})` },
    after: { type: "string", summary: "Start after this account" },
  },
  async run(terminal, _words, options) {
    const limit = text(options, "limit") ?? String(PAGE);
    if (!/^\d+$/.test(limit)) throw new UsageError("--limit takes a whole number.");
    const after = text(options, "after");
    const query = new URLSearchParams({ limit, ...(after === undefined ? {} : { after }) });
    const list = await callAdminApi<List<Account>>(terminal, "GET", `/accounts?${query}`);
    const rows = list.data.map(({ id, name, email, plan }) => [id, name, plan, email ?? ""]);
    const more = list.has_more ? `\n… more: --after ${list.last_id}` : "";
    terminal.print(
      list,
      rows.length === 0
        ? "No accounts."
        : table([["ID", "NAME", "PLAN", "E-MAIL"], ...rows]) + more,
    );
    return 0;
  },
};

export const accountShow: Command = {
  usage: "account show <account>",
  summary: "Show an account and its keys",
  async run(terminal, words) {
    const id = encodeURIComponent(word(words, 0, "account"));
    const account = await callAdminApi<Account & { balance: Balance }>(
      terminal,
      "GET",
      `/accounts/${id}`,
    );
    const { balance } = account;
    const keys = await callAdminApi<List<ApiKey>>(terminal, "GET", `/accounts/${id}/keys`);
    const facts = table([
      ["id", account.id],
      ["name", account.name],
      [
        "plan",
        account.plan +
        (account.plan_expires_at === null ? "" : ` until ${account.plan_expires_at}`),
      ],
      ["e-mail", account.email ?? "none"],
      ["available", `${balance.available_balance} ${balance.currency}`],
      ["frozen", `${balance.frozen_balance} ${balance.currency}`],
      ["created", new Date(account.created * 1000).toISOString()],
    ]);
    const rows = keys.data.map((key) => [
      key.id,
      key.name,
      `…${key.last4}`,
      key.revoked === null ? "active" : "revoked",
      key.last_used === null
        ? "never used"
        : `used ${new Date(key.last_used * 1000).toISOString()}`,
    ]);
    terminal.print(
      { ...account, keys: keys.data },
      `${facts}\n\n${rows.length === 0 ? "No keys." : table(rows)}`,
    );
    return 0;
  },
};

export const keyCreate: Command = {
  usage: "key create <account> --name <name>",
  summary: "Create an API key; it is shown this once",
  options: { name: { type: "string", summary: "What the key is for" } },
  async run(terminal, words, options) {
    const name = text(options, "name");
    if (name === undefined) throw new UsageError("Say what the key is for: --name <name>.");
    const id = encodeURIComponent(word(words, 0, "account"));
    const key = await callAdminApi<ApiKey & { key: string }>(
      terminal,
      "POST",
      `/accounts/${id}/keys`,
      {
        name,
      },
    );
    terminal.print(
      key,
      `${key.key}\n\n${key.id} "${key.name}". Keep the key now: it is not shown again.`,
    );
    return 0;
  },
};

export const keyRevoke: Command = {
  usage: "key revoke <key id>",
  summary: "End a key, on every node, before this returns",
  async run(terminal, words) {
    const id = encodeURIComponent(word(words, 0, "key (key_…)"));
    const key = await callAdminApi<ApiKey>(terminal, "DELETE", `/keys/${id}`);
    terminal.print(key, `${key.id} "${key.name}" (…${key.last4}) is revoked.`);
    return 0;
  },
};
