import { decimal, formatDecimal } from "../../lib/money.ts";
import type { InvoiceLine } from "./invoice.ts";

/** What the gateway recorded of a model of a provider. */
export interface RecordedCost {
  readonly model: string;
  readonly day: string | null;
  /** Null where no cost is known. */
  readonly cost: string | null;
  /** Requests whose cost is not known. */
  readonly uncosted: number;
  readonly requests: number;
}

/** What a provider billed for a model, beside what was recorded. */
export interface ReconciledLine {
  /** As the gateway names it; as the invoice does where nothing was recorded. */
  readonly model: string;
  readonly day: string | null;
  /** Null: the invoice does not have it. */
  readonly billed: string | null;
  /** Null: nothing was recorded, or no cost is known. */
  readonly recorded: string | null;
  readonly uncosted: number;
  readonly requests: number;
  /** Billed less recorded. */
  readonly difference: string;
  readonly status: "equal" | "differs" | "not_recorded" | "not_billed" | "cost_unknown";
}

export interface Reconciliation {
  readonly lines: readonly ReconciledLine[];
  readonly billed: string;
  readonly recorded: string;
  readonly difference: string;
  /** Every difference is within the tolerance, and every cost is known. */
  readonly ok: boolean;
}

/** Compares an invoice with what was recorded, by model and, where `recorded` has days, by day. */
export function compareInvoice(
  billed: readonly InvoiceLine[],
  recorded: readonly RecordedCost[],
  { tolerance, isByDay }: { tolerance: bigint; isByDay: boolean },
): Reconciliation {
  const nameOf = recordedName(recorded.map(({ model }) => model));
  const groups = new Map<string, Group>();
  const groupOf = (model: string, day: string | null) => {
    const key = JSON.stringify([day, model]);
    const group = groups.get(key) ?? { model, day, billed: null, recorded: null };
    groups.set(key, group);
    return group;
  };
  for (const cost of recorded) groupOf(cost.model, cost.day).recorded = cost;
  for (const { model, day, amount } of billed) {
    const group = groupOf(nameOf(model), isByDay ? day : null);
    group.billed = (group.billed ?? 0n) + amount;
  }
  const lines = [...groups.values()].map((group) => toLine(group, tolerance)).sort(inOrder);
  const sum = (amounts: readonly (string | null)[]) =>
    amounts.reduce((sum, amount) => sum + decimal(amount ?? "0"), 0n);
  const [all, own] = [
    sum(lines.map(({ billed }) => billed)),
    sum(lines.map((line) => line.recorded)),
  ];
  return {
    lines,
    billed: formatDecimal(all),
    recorded: formatDecimal(own),
    difference: formatDecimal(all - own),
    ok: lines.every(({ status }) => status === "equal"),
  };
}

interface Group {
  readonly model: string;
  readonly day: string | null;
  billed: bigint | null;
  recorded: RecordedCost | null;
}

function toLine({ model, day, billed, recorded }: Group, tolerance: bigint): ReconciledLine {
  const cost = recorded?.cost ?? null;
  const { uncosted = 0, requests = 0 } = recorded ?? {};
  const difference = (billed ?? 0n) - decimal(cost ?? "0");
  const isEqual = difference <= tolerance && -difference <= tolerance;
  return {
    model,
    day,
    billed: billed === null ? null : formatDecimal(billed),
    recorded: cost,
    uncosted,
    requests,
    difference: formatDecimal(difference),
    status: uncosted > 0
      ? "cost_unknown"
      : isEqual
      ? "equal"
      : recorded === null
      ? "not_recorded"
      : billed === null
      ? "not_billed"
      : "differs",
  };
}

function inOrder(a: ReconciledLine, b: ReconciledLine): number {
  const [first, second] = [`${a.day} ${a.model}`, `${b.day} ${b.model}`];
  return first === second ? 0 : first < second ? -1 : 1;
}

/**
 * Finds the model that an invoice means. Invoices write `gpt-4o-2024-08-06, input` where the configuration may say
 * `gpt-4o`: what follows a comma is left out, then the date at the end.
 */
function recordedName(known: readonly string[]): (billed: string) => string {
  const names = new Map(known.map((name) => [name.toLowerCase(), name]));
  const undated = new Map(known.map((name) => [withoutDate(name.toLowerCase()), name]));
  return (billed) => {
    const name = billed.split(",")[0]!.trim();
    const plain = name.toLowerCase();
    return names.get(plain) ?? names.get(withoutDate(plain)) ?? undated.get(withoutDate(plain)) ??
      name;
  };
}

function withoutDate(name: string): string {
  return name.replace(/[-@](\d{4}-\d\d-\d\d|\d{8})$/, "");
}
