import type { ApiKey } from "../domain/accounts/api_keys.ts";
import type { KeyRestrictions } from "../domain/accounts/key_restrictions.ts";
import { callAdminApi } from "./client.ts";
import { argument, type Command, type Options, optionText, table, UsageError } from "./command.ts";

const RESTRICTIONS: Command["options"] = {
  "expires-at": { type: "string", summary: "When it stops working, such as 2027-01-01T00:00:00Z" },
  models: { type: "string", summary: "Models it may use, separated by commas; * is any text" },
  "requests-per-minute": { type: "string", summary: "A lower rate than that of the plan" },
  "tokens-per-minute": { type: "string", summary: "A lower rate than that of the plan" },
  "allowed-ips": { type: "string", summary: "Addresses and networks, separated by commas" },
  "log-bodies": { type: "string", summary: "on or off: whether bodies may be kept in the log" },
  budget: { type: "string", summary: "What it may spend, such as 25.00/month (total, day, week)" },
};

/** The restrictions of the options that are set. An empty text takes a restriction away. */
function restrictionsOf(options: Options): Partial<KeyRestrictions> {
  const read = <T>(name: string, parse: (text: string) => T): T | null | undefined => {
    const text = optionText(options, name);
    return text === undefined ? undefined : text === "" ? null : parse(text);
  };
  const list = (text: string) => text.split(",").map((each) => each.trim());
  const rates = {
    requests_per_minute: read("requests-per-minute", Number),
    tokens_per_minute: read("tokens-per-minute", Number),
  };
  const hasRates = Object.values(rates).some((rate) => rate !== undefined);
  return {
    expires_at: read("expires-at", (text) => text),
    models: read("models", list),
    allowed_ips: read("allowed-ips", list),
    budget: read("budget", readBudget),
    log_bodies: read("log-bodies", readSwitch) ?? undefined,
    ...(hasRates ? { limits: rates } : {}),
  };
}

function readBudget(text: string): KeyRestrictions["budget"] {
  const [amount = "", period = "total"] = text.split("/");
  // The gateway checks both.
  return { amount, period } as KeyRestrictions["budget"];
}

function readSwitch(text: string): boolean {
  if (text !== "on" && text !== "off") throw new UsageError("--log-bodies must be on or off.");
  return text === "on";
}

export const keyCreate: Command = {
  usage: "key create <account> --name <name>",
  summary: "Create an API key; the key is shown only once",
  endpoints: ["POST /admin/v1/accounts/{id}/keys"],
  options: {
    name: { type: "string", summary: "Name of the key, such as the program that uses it" },
    ...RESTRICTIONS,
  },
  async run(terminal, args, options) {
    const name = optionText(options, "name");
    if (name === undefined) throw new UsageError("Missing option: --name <name>.");
    const id = encodeURIComponent(argument(args, 0, "account"));
    const key = await callAdminApi<ApiKey & { key: string }>(
      terminal,
      "POST",
      `/accounts/${id}/keys`,
      { name, ...restrictionsOf(options) },
    );
    terminal.print(
      key,
      `${key.key}\n\nAPI key created: ${key.id} (${key.name}). Copy the key now. You won't be able to see it again.`,
    );
    return 0;
  },
};

export const keyUpdate: Command = {
  usage: "key update <key id>",
  summary: 'Change the name or the restrictions of an API key; "" takes a restriction away',
  endpoints: ["PATCH /admin/v1/keys/{id}"],
  options: { name: { type: "string", summary: "New name" }, ...RESTRICTIONS },
  async run(terminal, args, options) {
    const id = encodeURIComponent(argument(args, 0, "key id"));
    const body = { name: optionText(options, "name"), ...restrictionsOf(options) };
    const key = await callAdminApi<ApiKey>(terminal, "PATCH", `/keys/${id}`, body);
    terminal.print(
      key,
      `API key changed: ${key.id} (${key.name}). ${describe(key) || "No restrictions."}`,
    );
    return 0;
  },
};

export const keyList: Command = {
  usage: "key list <account>",
  summary: "List the API keys of an account with what each may do and has spent",
  endpoints: ["GET /admin/v1/accounts/{id}/keys"],
  async run(terminal, args) {
    const id = encodeURIComponent(argument(args, 0, "account"));
    const keys = await callAdminApi<{ data: ApiKey[] }>(terminal, "GET", `/accounts/${id}/keys`);
    terminal.print(keys, keyTable(keys.data));
    return 0;
  },
};

export const keyRevoke: Command = {
  usage: "key revoke <key id>",
  summary: "Revoke an API key; it stops working on every node before the command returns",
  endpoints: ["DELETE /admin/v1/keys/{id}"],
  async run(terminal, args) {
    const id = encodeURIComponent(argument(args, 0, "key id"));
    const key = await callAdminApi<ApiKey>(terminal, "DELETE", `/keys/${id}`);
    terminal.print(key, `API key revoked: ${key.id} (${key.name}, …${key.last4}).`);
    return 0;
  },
};

/** Keys as aligned columns. */
export function keyTable(keys: readonly ApiKey[]): string {
  if (keys.length === 0) return "No API keys.";
  return table(keys.map((key) => [
    key.id,
    key.name,
    `…${key.last4}`,
    key.revoked === null ? "active" : "revoked",
    key.last_used === null ? "never used" : `used ${new Date(key.last_used * 1000).toISOString()}`,
    `spent ${key.spend.amount}`,
    describe(key),
  ]));
}

function describe(key: KeyRestrictions): string {
  return [
    key.expires_at === null ? null : `until ${key.expires_at}`,
    key.models === null ? null : `models ${key.models.join(",")}`,
    key.limits?.requests_per_minute ? `${key.limits.requests_per_minute} requests/min` : null,
    key.limits?.tokens_per_minute ? `${key.limits.tokens_per_minute} tokens/min` : null,
    key.allowed_ips === null ? null : `from ${key.allowed_ips.join(",")}`,
    key.log_bodies ? null : "bodies not kept",
    key.budget === null ? null : `budget ${key.budget.amount}/${key.budget.period}`,
  ].filter((part) => part !== null).join("; ");
}
