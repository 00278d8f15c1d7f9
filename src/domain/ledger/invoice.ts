import { readCsv } from "../../lib/csv.ts";
import { SCALE } from "../../lib/money.ts";

/** A file that cannot be read as an invoice; the message says where and why. */
export class InvoiceError extends Error {
  override readonly name = "InvoiceError";
}

/** A line of a provider's invoice. */
export interface InvoiceLine {
  readonly model: string;
  /** Such as 2026-01-31; null where the invoice has months or no dates. */
  readonly day: string | null;
  /** In units of 10⁻¹², as `decimal` reads them. Negative for a credit. */
  readonly amount: bigint;
}

export interface Invoice {
  readonly lines: readonly InvoiceLine[];
  /** As the file says; null where it does not. */
  readonly currency: string | null;
  /** The columns that were read. */
  readonly columns: Readonly<Record<ColumnRole, string | null>>;
  /** How many lines are of other months. */
  readonly outside: number;
}

type ColumnRole = "model" | "amount" | "date" | "currency";
export type ColumnChoice = Readonly<Partial<Record<ColumnRole, string | undefined>>>;

/** Names that the exports of providers have, the best first. */
const NAMES: Readonly<Record<ColumnRole, readonly string[]>> = {
  model: ["model", "model_name", "model_id", "line_item", "sku", "product", "description", "item"],
  amount: ["amount", "amount_value", "cost", "cost_usd", "amount_usd", "total_cost", "total"],
  date: ["date", "day", "usage_date", "usage_date_utc", "start_time_iso", "start_time", "month"],
  currency: ["currency", "amount_currency"],
};

/** A provider's invoice or cost export of one month, as CSV with a line of column names. */
export async function readInvoice(
  text: string,
  { month, columns = {} }: { month: string; columns?: ColumnChoice },
): Promise<Invoice> {
  const [names, ...rows] = await readRows(text);
  if (names === undefined) throw new InvoiceError("The file is empty.");
  const places = findColumns(names.fields.map((name) => name ?? ""), columns);
  const lines: InvoiceLine[] = [];
  const currencies = new Set<string>();
  let outside = 0;
  for (const row of rows) {
    const line = readLine(row, names.fields.length, places);
    if (line === null) continue;
    if (line.date !== null && !line.date.startsWith(month)) {
      outside++;
      continue;
    }
    if (line.currency !== null) currencies.add(line.currency);
    lines.push({
      model: line.model,
      day: line.date?.length === 10 ? line.date : null,
      amount: line.amount,
    });
  }
  if (currencies.size > 1) {
    throw new InvoiceError(`The file has several currencies: ${[...currencies].join(", ")}.`);
  }
  const nameAt = (at: number | null) => at === null ? null : names.fields[at] ?? null;
  return {
    lines,
    currency: [...currencies][0] ?? currencyOf(nameAt(places.amount) ?? ""),
    columns: {
      model: nameAt(places.model),
      amount: nameAt(places.amount),
      date: nameAt(places.date),
      currency: nameAt(places.currency),
    },
    outside,
  };
}

interface Row {
  readonly fields: readonly (string | null)[];
  readonly line: number;
}

async function readRows(text: string): Promise<Row[]> {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  if (plain.includes("\0")) throw new InvoiceError("The file is not text: export it as CSV.");
  if (plain.split('"').length % 2 === 0) {
    throw new InvoiceError("A quote in the file is not closed.");
  }
  const rows: Row[] = [];
  let line = 1;
  for await (
    const fields of readCsv(ReadableStream.from([plain.endsWith("\n") ? plain : `${plain}\n`]))
  ) {
    if (fields.some((field) => field !== null && field.trim() !== "")) rows.push({ fields, line });
    line += 1 + fields.reduce((sum, field) => sum + (field?.split("\n").length ?? 1) - 1, 0);
  }
  return rows;
}

type Places =
  & { readonly model: number; readonly amount: number }
  & {
    readonly [role in "date" | "currency"]: number | null;
  };

function findColumns(names: readonly string[], chosen: ColumnChoice): Places {
  if (names.length === 1 && names[0]!.includes(";")) {
    throw new InvoiceError("Columns are separated by semicolons: export the file with commas.");
  }
  const plain = names.map(plainName);
  const find = (role: ColumnRole) => {
    const own = chosen[role];
    const wanted = own === undefined ? NAMES[role] : [plainName(own)];
    const at = wanted.map((name) => plain.indexOf(name)).find((at) => at !== -1);
    if (at !== undefined) return at;
    if (own !== undefined) throw noColumn(`There is no column "${own}".`, names);
    return null;
  };
  const need = (role: "model" | "amount") => {
    const at = find(role);
    if (at !== null) return at;
    throw noColumn(`No column looks like the ${role}: name it with --${role}-column.`, names);
  };
  return {
    model: need("model"),
    amount: need("amount"),
    date: find("date"),
    currency: find("currency"),
  };
}

function noColumn(message: string, names: readonly string[]): InvoiceError {
  return new InvoiceError(`${message} The first line has: ${names.join(", ")}.`);
}

/** Usage Date (UTC) → usage_date_utc */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_/, "").replace(/_$/, "");
}

/** `cost_usd` says its currency. */
function currencyOf(amountColumn: string): string | null {
  return /_(usd|eur|gbp|cny|jpy)$/.exec(plainName(amountColumn))?.[1]?.toUpperCase() ?? null;
}

/** Null for a line of totals, which would count everything twice. */
function readLine({ fields, line }: Row, width: number, places: Places) {
  const fail = (message: string) => new InvoiceError(`Line ${line}: ${message}`);
  if (fields.length !== width) {
    throw fail(`has ${fields.length} columns, and the first line has ${width}.`);
  }
  const textAt = (at: number | null) => at === null ? "" : fields[at]?.trim() ?? "";
  const model = textAt(places.model);
  if (
    /^(sub|grand )?total\b/i.test(model) ||
    fields.some((field) => /^(grand )?total$/i.test(field ?? ""))
  ) {
    return null;
  }
  const amount = readAmount(textAt(places.amount));
  if (amount === null) {
    throw fail(`"${textAt(places.amount)}" is not an amount: write it as 1234.56.`);
  }
  const date = textAt(places.date) === "" ? null : readDate(textAt(places.date));
  if (date === undefined) {
    throw fail(`"${textAt(places.date)}" is not a date: write it as 2026-01-31.`);
  }
  const currency = textAt(places.currency).toUpperCase();
  return {
    model: model === "" ? "(none)" : model,
    amount,
    date,
    currency: currency === "" ? null : currency,
  };
}

/** 2026-01, or 2026-01-31; undefined for anything else. */
function readDate(text: string): string | undefined {
  if (/^\d{9,10}$/.test(text)) return new Date(Number(text) * 1000).toISOString().slice(0, 10);
  return /^\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?(?=$|[T ])/.exec(text)?.[0];
}

/** Amounts as spreadsheets and programs write them: 12.5, $1,234.50, 1.2e-05. Half a unit of 10⁻¹² is rounded up. */
function readAmount(text: string): bigint | null {
  const match = /^(-?)[$€£¥]?(-?)(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d*))?(?:e([+-]?\d{1,2}))?$/i.exec(
    text,
  );
  if (match === null) return null;
  const [, sign, innerSign, whole, decimals = "", exponent = "0"] = match;
  const digits = BigInt(whole!.replaceAll(",", "") + decimals);
  const shift = SCALE - decimals.length + Number(exponent);
  const value = shift >= 0
    ? digits * 10n ** BigInt(shift)
    : (digits * 2n + 10n ** BigInt(-shift)) / (2n * 10n ** BigInt(-shift));
  return (sign === "-") !== (innerSign === "-") ? -value : value;
}
