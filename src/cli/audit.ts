import type { AuditEntry } from "../domain/audit/list_audit.ts";
import { callAdminApi } from "./client.ts";
import { type Command, optionText, table } from "./command.ts";

const COLUMNS = ["CREATED", "ACTOR", "VIA", "ACTION", "ACCOUNT", "SUBJECT", "BEFORE", "AFTER"];
const FILTERS = ["account", "actor", "action", "subject", "from", "to", "after", "limit"];

export const auditList: Command = {
  usage: "audit [--account <id>] [--actor <id>] [--action <action>] [--from <time>] [--to <time>]",
  summary: "List what operators and members did, newest first, with the state before and after",
  endpoints: ["GET /admin/v1/audit"],
  options: {
    account: { type: "string", summary: "Only actions that concern this account" },
    actor: { type: "string", summary: "Only of this admin token or person, by id, or root" },
    action: { type: "string", summary: "Only actions of this kind, such as account.credit" },
    subject: { type: "string", summary: "Only actions on this key, token or task, by its id" },
    from: { type: "string", summary: "Only actions from this time on" },
    to: { type: "string", summary: "Only actions before this time" },
    after: { type: "string", summary: "Show the page after this entry" },
    limit: { type: "string", summary: "Entries to show (default 100)" },
  },
  async run(terminal, _args, options) {
    const query = new URLSearchParams({ limit: "100" });
    for (const name of FILTERS) {
      const value = optionText(options, name);
      if (value !== undefined) query.set(name, value);
    }
    const list = await callAdminApi<{ data: AuditEntry[]; has_more: boolean }>(
      terminal,
      "GET",
      `/audit?${query}`,
    );
    const state = (value: object | null) => value === null ? "" : JSON.stringify(value);
    const rows = list.data.map((entry) => [
      new Date(entry.created * 1000).toISOString(),
      entry.actor.name ?? entry.actor.id ?? "",
      entry.via,
      entry.action,
      entry.account ?? "",
      entry.subject ?? "",
      state(entry.before),
      state(entry.after),
    ]);
    const more = list.has_more ? `\n\nMore entries: add --after ${list.data.at(-1)?.id}` : "";
    terminal.print(list, rows.length === 0 ? "No entries." : table([COLUMNS, ...rows]) + more);
    return 0;
  },
};
