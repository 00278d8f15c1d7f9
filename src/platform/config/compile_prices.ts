import type { GatewayFile, PriceBookEntry, PriceEntry } from "./gateway_file.ts";
import type { AmountName, Price, PriceBook } from "./config.ts";

const AMOUNTS: readonly AmountName[] = [
  "price",
  "input_price",
  "output_price",
  "cached_input_price",
  "reasoning_price",
  "minimum_charge",
];

/** Price books with the prices of their parents copied in, so that a lookup reads one list. */
export function compileBooks(books: GatewayFile["prices"]): Map<string, PriceBook> {
  const compiled = new Map<string, PriceBook>();
  const compileBook = (id: string): PriceBook => {
    const done = compiled.get(id);
    if (done !== undefined) return done;
    const book = books[id]!;
    const own = Map.groupBy(
      book.entries.map((entry) => priceOf(id, book, entry)),
      ({ model }) => model,
    );
    const base = book.extends === undefined
      ? new Map<string, readonly Price[]>()
      : compileBook(book.extends).prices;
    const prices = new Map<string, readonly Price[]>();
    for (const model of new Set([...base.keys(), ...own.keys()])) {
      const newestFirst = (own.get(model) ?? []).sort((a, b) => b.effectiveAt - a.effectiveAt);
      prices.set(model, [...newestFirst, ...base.get(model) ?? []]);
    }
    const finished = { id, prices };
    compiled.set(id, finished);
    return finished;
  };
  for (const id of Object.keys(books)) compileBook(id);
  return compiled;
}

function priceOf(
  book: string,
  { effective_at }: PriceBookEntry,
  entry: PriceEntry,
): Price {
  const amounts: Partial<Record<AmountName, string>> = {};
  for (const name of AMOUNTS) {
    const amount = entry[name];
    if (amount !== undefined) amounts[name] = amount;
  }
  return {
    book,
    model: entry.model,
    billingType: entry.billing_type,
    unit: entry.unit,
    amounts,
    effectiveAt: Date.parse(entry.effective_at ?? effective_at),
  };
}
