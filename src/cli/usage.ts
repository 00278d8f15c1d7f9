import type { GroupedUsage } from "../domain/ledger/usage_report.ts";
import type { UsageSums } from "../domain/ledger/usage_sums.ts";
import type { UsageGroup } from "../domain/ledger/usage_page.ts";
import { INPUT_BUCKETS, OUTPUT_BUCKETS } from "../model_types/usage.ts";
import { callAdminApi, readAdminText } from "./client.ts";
import { type Command, optionText, table } from "./command.ts";

/** What the gateway answers about usage. */
interface ReportedUsage {
  currency: string;
  group_by: UsageGroup[];
  data: GroupedUsage[];
  totals: UsageSums;
}

const FILTERS = ["account", "key", "model", "user", "endpoint", "from", "to"];

export const usageReport: Command = {
  usage: "usage [--by <groups>] [--from <time>] [--to <time>] [--account <id>] [--csv]",
  summary: "Sum up usage by account, key, model, user, endpoint, day or a field of metadata",
  endpoints: ["GET /admin/v1/usage"],
  options: {
    by: {
      type: "string",
      summary: "Groups, separated by commas, such as key,day or metadata.team (default: account)",
    },
    from: { type: "string", summary: "Charges from this time on (default: this month)" },
    to: { type: "string", summary: "Charges before this time" },
    account: { type: "string", summary: "Only requests of this account" },
    key: { type: "string", summary: "Only requests with this API key, by its id" },
    model: { type: "string", summary: "Only requests to this model" },
    user: { type: "string", summary: "Only requests with this `user`" },
    endpoint: { type: "string", summary: "Only requests to this endpoint, such as chat" },
    metadata: {
      type: "string",
      summary: "Only requests with this in their metadata, as name=value",
    },
    csv: { type: "boolean", summary: "Print CSV with all columns" },
  },
  async run(terminal, _args, options) {
    const query = new URLSearchParams({ group_by: optionText(options, "by") ?? "account" });
    for (const name of FILTERS) {
      const value = optionText(options, name);
      if (value !== undefined) query.set(name, value);
    }
    const [field, ...value] = optionText(options, "metadata")?.split("=") ?? [];
    if (field !== undefined) query.set(`metadata.${field}`, value.join("="));
    if (options.csv === true && !terminal.json) {
      const csv = await readAdminText(terminal, `/usage?${query}&format=csv`);
      terminal.print(null, csv.trimEnd());
      return 0;
    }
    const report = await callAdminApi<ReportedUsage>(terminal, "GET", `/usage?${query}`);
    terminal.print(report, formatUsage(report));
    return 0;
  },
};

function formatUsage({ currency, group_by, data, totals }: ReportedUsage): string {
  if (data.length === 0) return "No requests in this period.";
  const rows = [
    [...group_by.map((group) => group.toUpperCase()), ...COLUMNS],
    ...data.map((usage) => [...group_by.map((group) => nameOf(usage, group)), ...cellsOf(usage)]),
    [...group_by.map((_, at) => at === 0 ? "total" : ""), ...cellsOf(totals)],
  ];
  return [table(rows), "", `Amounts in ${currency}.`].join("\n");
}

const COLUMNS = [
  "REQUESTS",
  "FAILED",
  "INPUT",
  "OUTPUT",
  "QUOTA",
  "CHARGED",
  "COST",
  "UNKNOWN COST",
];

function cellsOf(usage: UsageSums): string[] {
  const sum = (names: readonly (keyof UsageSums)[]) =>
    names.reduce((all, name) => all + Number(usage[name]), 0);
  return [
    usage.requests,
    usage.failed,
    sum(INPUT_BUCKETS),
    sum(OUTPUT_BUCKETS),
    usage.quota,
    usage.charged,
    usage.cost,
    usage.uncosted,
  ].map(String);
}

function nameOf(usage: GroupedUsage, group: UsageGroup): string {
  const value = usage[group] ?? "-";
  const name = group === "account" || group === "key" ? usage[`${group}_name`] : null;
  return name ? `${value} (${name})` : value;
}
