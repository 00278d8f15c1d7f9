import type { Price } from "../../src/platform/config/config.ts";
import type { Charge, Quote } from "../../src/domain/pricing/quote.ts";

/** The hold and the charge of a usual chat, for benchmarks of the ledger. */
const PRICE: Price = {
  book: "default",
  model: "sim-chat",
  billingType: "token",
  unit: "1M tokens",
  terms: { input_price: "0.15", output_price: "0.60" },
  effectiveAt: 0,
};
export const QUOTE: Quote = {
  model: "sim-chat",
  kind: "text",
  amount: { num: 123_456n, den: 1_000_000n },
  units: 8192n,
  price: PRICE,
};
export const CHARGE: Charge = {
  amount: { num: 3_456n, den: 1_000_000n },
  units: 500n,
  usage: { input_tokens: 100, output_tokens: 400 },
};
