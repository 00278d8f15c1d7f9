import type { GatewayFile, PriceBookEntry, PriceEntry } from "./gateway_file.ts";
import type { Price, PriceBook } from "./config.ts";
import { termsOf } from "../../model_types/price_terms.ts";

/** Price books with the prices of their parents copied in, so that a lookup reads one list. */
export function compileBooks(books: GatewayFile["prices"]): Map<string, PriceBook> {
  const compiled = new Map<string, PriceBook>();
  const compileBook = (id: string): PriceBook => {
    const done = compiled.get(id);
    if (done !== undefined) return done;
    const book = books[id]!;
    const own = Map.groupBy(
      book.entries.map((entry) => compilePrice(id, book, entry)),
      ({ model }) => model,
    );
    const base = book.extends === undefined
      ? new Map<string, readonly Price[]>()
      : compileBook(book.extends).prices;
    const prices = new Map<string, readonly Price[]>();
    for (const model of new Set([...base.keys(), ...own.keys()])) {
      prices.set(model, mergePrices(own.get(model) ?? [], base.get(model) ?? []));
    }
    const finished = { id, prices };
    compiled.set(id, finished);
    return finished;
  };
  for (const id of Object.keys(books)) compileBook(id);
  return compiled;
}

/** When the first price of a model took effect, in Unix seconds; 0 for a model without one. */
export function firstPriceOf(books: ReadonlyMap<string, PriceBook>, model: string): number {
  let first = Infinity;
  for (const { prices } of books.values()) {
    first = Math.min(first, prices.get(model)?.at(-1)?.effectiveAt ?? Infinity);
  }
  return first === Infinity ? 0 : Math.floor(first / 1000);
}

/** Newest first. Once a book has a price of its own, no later price of its parent is ever charged. */
function mergePrices(own: readonly Price[], inherited: readonly Price[]): readonly Price[] {
  const ownStart = Math.min(...own.map(({ effectiveAt }) => effectiveAt));
  return [
    ...own.toSorted((a, b) => b.effectiveAt - a.effectiveAt),
    ...inherited.filter(({ effectiveAt }) => effectiveAt < ownStart),
  ];
}

function compilePrice(
  book: string,
  { effective_at }: PriceBookEntry,
  entry: PriceEntry,
): Price {
  return {
    book,
    model: entry.model,
    billingType: entry.billing_type,
    unit: entry.unit,
    terms: termsOf(entry),
    effectiveAt: Date.parse(entry.effective_at ?? effective_at),
  };
}
