import type { GroupedMargin, Margin, MarginGroup } from "../domain/ledger/margins.ts";
import { callAdminApi, readAdminText } from "./client.ts";
import { type Command, optionText, table } from "./command.ts";

/** What the gateway answers about margins. */
export interface MarginReport {
  currency: string;
  group_by: MarginGroup[];
  data: GroupedMargin[];
  totals: Margin;
  archived_before: string | null;
  archived_partly: string[];
}

const FILTERS = ["month", "from", "to", "model", "provider", "account", "plan"];

export const margins: Command = {
  usage: "margins [--by <groups>] [--month <month>] [--csv]",
  summary: "Compare revenue with what upstreams charge, by model, provider, account, plan or month",
  endpoints: ["GET /admin/v1/margins"],
  options: {
    by: { type: "string", summary: "Groups, separated by commas (default: model)" },
    month: { type: "string", summary: "Only this month, such as 2026-01" },
    from: { type: "string", summary: "From this day on (default: the last twelve months)" },
    to: { type: "string", summary: "Before this day" },
    model: { type: "string", summary: "Only requests to this model" },
    provider: { type: "string", summary: "Only what this provider made" },
    account: { type: "string", summary: "Only requests of this account" },
    plan: { type: "string", summary: "Only requests of accounts that were on this plan" },
    csv: { type: "boolean", summary: "Print CSV with all columns" },
  },
  async run(terminal, _args, options) {
    const query = new URLSearchParams({ group_by: optionText(options, "by") ?? "model" });
    for (const name of FILTERS) {
      const value = optionText(options, name);
      if (value !== undefined) query.set(name, value);
    }
    if (options.csv === true && !terminal.json) {
      const csv = await readAdminText(terminal, `/margins?${query}&format=csv`);
      terminal.print(null, csv.trimEnd());
      return 0;
    }
    const report = await callAdminApi<MarginReport>(terminal, "GET", `/margins?${query}`);
    terminal.print(report, formatReport(report));
    return 0;
  },
};

function formatReport({ currency, group_by, data, totals, archived_partly }: MarginReport): string {
  if (data.length === 0) return "No requests in this period.";
  const rows = [
    [...group_by.map((group) => group.toUpperCase()), ...COLUMNS],
    ...data.map((margin) => [...group_by.map((group) => margin[group] ?? "-"), ...cellsOf(margin)]),
    [...group_by.map((_, at) => at === 0 ? "total" : ""), ...cellsOf(totals)],
  ];
  const notes = [
    `Amounts in ${currency}.`,
    ...(totals.uncosted === 0 ? [] : [
      `Unknown cost: ${totals.uncosted} requests or parts of dramas, for ${totals.uncosted_revenue} of the revenue. ` +
      "The margin leaves them out; declare `cost` at their upstreams.",
    ]),
    ...archived_partly.map((month) =>
      `${month} is archived, so it has no days: it is counted whole, or not at all.`
    ),
  ];
  return [table(rows), "", ...notes].join("\n");
}

const COLUMNS = ["REQUESTS", "REVENUE", "COST", "MARGIN", "%", "UNKNOWN COST"];

function cellsOf(margin: Margin): string[] {
  return [
    String(margin.requests),
    margin.revenue,
    margin.cost ?? "unknown",
    margin.margin ?? "unknown",
    margin.margin_percent ?? "-",
    margin.uncosted === 0 ? "" : String(margin.uncosted),
  ];
}
