import type { Price } from "../../platform/config/config.ts";
import { money } from "./format.ts";

const NAMES: Readonly<Record<string, string>> = {
  input_price: "Input",
  cached_input_price: "Cached input",
  output_price: "Output",
  reasoning_price: "Reasoning",
};

/** What a model costs, a line per amount: `["Input", "$0.15 per 1M tokens"]`. */
export function priceLines(price: Price, currency: string): [name: string, text: string][] {
  const lines: [string, string][] = [];
  for (const [name, label] of Object.entries(NAMES)) {
    const amount = price.amounts[name as keyof Price["amounts"]];
    if (amount !== undefined) lines.push([label, per(amount, price, currency)]);
  }
  if (price.amounts.price !== undefined) {
    lines.push(["Price", per(price.amounts.price, price, currency)]);
  }
  if (price.amounts.minimum_charge !== undefined) {
    lines.push(["At least", money(price.amounts.minimum_charge, currency)]);
  }
  return lines;
}

/** The same in one short line, for lists. */
export function priceShort(price: Price, currency: string): string {
  const { price: each, input_price: input, output_price: output } = price.amounts;
  if (each !== undefined) return per(each, price, currency);
  return `${money(input ?? "0", currency)} in, ${money(output ?? "0", currency)} out per ${
    unitOf(price)
  }`;
}

function per(amount: string, price: Price, currency: string): string {
  return `${money(amount, currency)} per ${unitOf(price)}`;
}

function unitOf({ unit }: Price): string {
  return unit.replace(/^1K /, "1,000 ");
}
