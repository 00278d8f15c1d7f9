import {
  type ColumnChoice,
  type Invoice,
  InvoiceError,
  readInvoice,
} from "../domain/ledger/invoice.ts";
import {
  compareInvoice,
  type ReconciledLine,
  type Reconciliation,
  type RecordedCost,
} from "../domain/ledger/reconcile.ts";
import { decimal, parseDecimal } from "../lib/money.ts";
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
import type { MarginReport } from "./margins.ts";

/** Providers round each line of an invoice to cents. */
const DEFAULT_TOLERANCE = "0.01";

export const reconcile: Command = {
  usage:
    "reconcile <invoice.csv> --provider <name> --month <month> [--by day] [--tolerance <amount>]",
  summary:
    "Compare a provider's invoice with recorded costs, by model; exit code 1 when they differ",
  endpoints: ["GET /admin/v1/margins", "GET /admin/v1/providers"],
  options: {
    provider: { type: "string", summary: "The provider, as the configuration names it" },
    month: { type: "string", summary: "The month of the invoice, such as 2026-01" },
    by: {
      type: "string",
      summary: "day: compare each day, if the invoice has dates (default: month)",
    },
    tolerance: {
      type: "string",
      summary: `The difference to accept in each line (default: ${DEFAULT_TOLERANCE})`,
    },
    rate: {
      type: "string",
      summary: "How much of the gateway's currency one unit of the invoice's is, where they differ",
    },
    "model-column": { type: "string", summary: "The column with the model" },
    "amount-column": { type: "string", summary: "The column with the amount" },
    "date-column": { type: "string", summary: "The column with the date" },
  },
  async run(terminal, args, options) {
    const file = argument(args, 0, "invoice.csv");
    const wanted = readOptions(options);
    const invoice = await readInvoice(await readText(file), wanted);
    const { currency, recorded } = await readRecorded(terminal, wanted);
    const billed = inCurrency(invoice, currency, wanted.rate);
    if (wanted.isByDay && billed.some(({ day }) => day === null)) {
      throw new InvoiceError("The invoice has lines without a day: compare it by month.");
    }
    const result = compareInvoice(billed, recorded, wanted);
    terminal.print(
      { file, provider: wanted.provider, month: wanted.month, currency, ...result },
      formatResult(result, { invoice, currency, ...wanted }),
    );
    return result.ok ? 0 : 1;
  },
};

interface Wanted {
  readonly provider: string;
  readonly month: string;
  readonly isByDay: boolean;
  readonly tolerance: bigint;
  readonly rate: bigint | null;
  readonly columns: ColumnChoice;
}

function readOptions(options: Options): Wanted {
  const need = (name: string) => {
    const value = optionText(options, name);
    if (value === undefined) throw new UsageError(`Missing option: --${name} <${name}>.`);
    return value;
  };
  const amount = (name: string, text: string) => {
    const value = parseDecimal(text);
    if (value === null || value < 0n) {
      throw new UsageError(`--${name} must be a decimal amount such as 0.01.`);
    }
    return value;
  };
  const month = need("month");
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) {
    throw new UsageError("--month must be a month such as 2026-01.");
  }
  const by = optionText(options, "by") ?? "month";
  if (by !== "day" && by !== "month") throw new UsageError("--by must be day or month.");
  const rate = optionText(options, "rate");
  return {
    provider: need("provider"),
    month,
    isByDay: by === "day",
    tolerance: amount("tolerance", optionText(options, "tolerance") ?? DEFAULT_TOLERANCE),
    rate: rate === undefined ? null : amount("rate", rate),
    columns: {
      model: optionText(options, "model-column"),
      amount: optionText(options, "amount-column"),
      date: optionText(options, "date-column"),
    },
  };
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await Deno.readFile(file));
  } catch (error) {
    if (error instanceof TypeError) throw new InvoiceError(`${file} is not UTF-8 text.`);
    if (error instanceof Deno.errors.NotFound) throw new InvoiceError(`There is no file ${file}.`);
    if (error instanceof Deno.errors.IsADirectory) throw new InvoiceError(`${file} is a folder.`);
    throw error;
  }
}

/** What the gateway recorded of the provider in the month. */
async function readRecorded(
  terminal: Terminal,
  { provider, month, isByDay }: Wanted,
): Promise<{ currency: string; recorded: RecordedCost[] }> {
  const groups = isByDay ? "day,upstream_model" : "upstream_model";
  const query = new URLSearchParams({ provider, month, group_by: groups });
  const report = await callAdminApi<MarginReport>(terminal, "GET", `/margins?${query}`);
  const { data, currency, archived_before } = report;
  if (isByDay && archived_before !== null && `${month}-01` < archived_before) {
    throw new InvoiceError(`${month} is archived and has no days any more: compare it by month.`);
  }
  if (data.length === 0) await requireProvider(terminal, provider);
  return {
    currency,
    recorded: data.map(({ day, upstream_model, cost, uncosted, requests }) => ({
      model: upstream_model!,
      day: day ?? null,
      ...{ cost, uncosted, requests },
    })),
  };
}

/** Nothing was recorded: the name may be wrong. */
async function requireProvider(terminal: Terminal, provider: string): Promise<void> {
  const { data } = await callAdminApi<{ data: { id: string }[] }>(terminal, "GET", "/providers");
  if (data.some(({ id }) => id === provider)) return;
  throw new UsageError(
    `There is no provider "${provider}". Configured: ${data.map(({ id }) => id).join(", ")}.`,
  );
}

function inCurrency(
  { lines, currency }: Invoice,
  own: string,
  rate: bigint | null,
): Invoice["lines"] {
  if (rate !== null) {
    return lines.map((line) => ({ ...line, amount: line.amount * rate / decimal("1") }));
  }
  if (currency === null || currency === own) return lines;
  throw new InvoiceError(
    `The invoice is in ${currency}, and costs are in ${own}: say with --rate how much ${own} one ${currency} is.`,
  );
}

const STATUS: Readonly<Record<ReconciledLine["status"], string>> = {
  equal: "ok",
  differs: "DIFFERS",
  not_recorded: "NOT RECORDED",
  not_billed: "NOT BILLED",
  cost_unknown: "COST UNKNOWN",
};

function formatResult(
  { lines, billed, recorded, difference, ok }: Reconciliation,
  { invoice, currency, provider, month, isByDay }: Wanted & { invoice: Invoice; currency: string },
): string {
  const days = (cell: string | null) => isByDay ? [cell ?? ""] : [];
  const rows = [
    [...days("DAY"), "MODEL", "REQUESTS", "BILLED", "RECORDED", "DIFFERENCE", ""],
    ...lines.map((line) => [
      ...days(line.day),
      line.model,
      String(line.requests),
      line.billed ?? "-",
      line.recorded ?? (line.uncosted > 0 ? "unknown" : "-"),
      line.difference,
      line.uncosted > 0 ? `${STATUS[line.status]} of ${line.uncosted}` : STATUS[line.status],
    ]),
    [...days("total"), isByDay ? "" : "total", "", billed, recorded, difference, ""],
  ];
  const { columns: { model, amount, date }, outside } = invoice;
  return [
    table(rows),
    "",
    `${provider}, ${month}, amounts in ${currency}. Read from the columns ${
      [model, amount, date].filter((name) => name !== null).join(", ")
    }${outside === 0 ? "" : `; ${outside} lines of other months left out`}.`,
    ok ? "Billed and recorded are equal." : "Billed and recorded DIFFER.",
  ].join("\n");
}
