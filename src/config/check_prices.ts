import { parseDecimal } from "../base/money.ts";
import { block, type Checker, listOf, type Names } from "./checker.ts";
import type { Declaration } from "./declaration.ts";
import type { Path } from "./faults.ts";
import { type BillingType, fitOf, UNIT_SIZES, unitFamily } from "./fits.ts";

type Keys = Record<string, unknown>;
type Models = ReadonlyMap<string, { model: Keys; index: number }>;
interface Chained {
  name: string;
  book: Keys;
}

/** Every book is laid out with what it extends: chains are short, and so is the sum. */
const EXTENDED_MAX = 16;
const PRICES_MAX = 1_000_000;

/** Prices: they name models that exist, fit their type and do not lie below cost. */
export function checkPrices(checker: Checker, declared: Partial<Declaration>, now: number): void {
  const books = block(declared.prices);
  const models = modelsById(declared);
  const modelNames = areAllNamed(checker, declared) ? models : null;
  const bookNames = checker.names(["prices"], declared.prices);
  for (const [name, item] of Object.entries(books)) {
    const path: Path = ["prices", name];
    const book = block(item);
    if (typeof book.extends === "string") {
      checker.reference([...path, "extends"], book.extends, "price book", bookNames);
    }
    checkEntries(checker, path, book, { models, modelNames, now });
  }
  checkChains(checker, books);
}

function modelsById(declared: Partial<Declaration>): Models {
  const models = new Map<string, { model: Keys; index: number }>();
  for (const [index, model] of listOf(declared.models).map(block).entries()) {
    if (typeof model.id === "string" && !models.has(model.id)) {
      models.set(model.id, { model, index });
    }
  }
  return models;
}

/** A price may mean the model whose id cannot be read: then no price is called a stray. */
function areAllNamed(checker: Checker, declared: Partial<Declaration>): boolean {
  return Array.isArray(declared.models) &&
    declared.models.every((model, index) =>
      typeof block(model).id === "string" && !checker.isSpoiled(["models", index, "id"])
    );
}

/** A book and what it extends, nearest first; cut off where it would go in a circle or on for ever. */
export function chainOf(name: string, books: Keys): Chained[] {
  const chain: Chained[] = [];
  const seen = new Set<string>();
  let next: unknown = name;
  while (typeof next === "string" && Object.hasOwn(books, next) && !seen.has(next)) {
    const book = block(books[next]);
    chain.push({ name: next, book });
    if (chain.length > EXTENDED_MAX + 1) break;
    seen.add(next);
    next = book.extends;
  }
  return chain;
}

function checkChains(checker: Checker, books: Keys): void {
  let prices = 0;
  let isTooLong = false;
  for (const name of Object.keys(books)) {
    const chain = chainOf(name, books);
    const path = ["prices", name, "extends"];
    prices += chain.reduce((sum, { book }) => sum + listOf(book.entries).length, 0);
    if (isCircle(chain)) {
      const circle = [...chain.map((other) => other.name), name].join(" → ");
      checker.report(path, { message: `the books extend each other in a circle: ${circle}` });
    }
    // Whatever extends such a book is too long as well: once is enough.
    if (chain.length > EXTENDED_MAX + 1 && !isTooLong) {
      isTooLong = true;
      checker.report(path, { message: `extends more than ${EXTENDED_MAX} books in a row` });
    }
  }
  if (prices > PRICES_MAX) {
    const message = `the books hold more than ${
      PRICES_MAX.toLocaleString("en")
    } prices with what they extend`;
    checker.report(["prices"], { message }, "key");
  }
}

/** True at one book of a circle only: the one whose name comes first. */
function isCircle(chain: readonly Chained[]): boolean {
  const [first] = chain;
  return chain.at(-1)?.book.extends === first?.name &&
    chain.every(({ name }) => name >= first!.name);
}

interface Around {
  models: Models;
  modelNames: Names;
  now: number;
}

function checkEntries(
  checker: Checker,
  path: Path,
  book: Keys,
  { models, modelNames, now }: Around,
): void {
  const entries = listOf(book.entries).map(block);
  const current = momentsInForce(book, entries, now);
  const moments = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const at: Path = [...path, "entries", index];
    if (typeof entry.model !== "string") continue;
    checker.reference([...at, "model"], entry.model, "model", modelNames);
    const from = momentOf(book, entry);
    const moment = `${entry.model} ${from}`;
    const first = Number.isNaN(from) ? undefined : moments.get(moment);
    if (first !== undefined) {
      checker.report([...at, "model"], {
        message: `entries[${first}] prices this model from the same moment`,
        suggestion: "Give one of them another effective_at.",
      });
    } else moments.set(moment, index);
    const priced = models.get(entry.model);
    if (priced === undefined) continue;
    checkUnit(checker, at, entry, priced.model);
    // Prices of the past stay for receipts: nothing is to be done about them.
    const isPast = from < (current.get(entry.model) ?? -Infinity);
    if (!isPast) warnBelowCost(checker, at, entry, priced);
  }
}

/** When a price starts; not a number when that cannot be read. */
export function momentOf(book: Keys, entry: Keys): number {
  return Date.parse(String(entry.effective_at ?? book.effective_at));
}

function momentsInForce(book: Keys, entries: readonly Keys[], now: number): Map<string, number> {
  const newest = new Map<string, number>();
  for (const entry of entries) {
    const from = momentOf(book, entry);
    if (typeof entry.model !== "string" || !(from <= now)) continue;
    newest.set(entry.model, Math.max(from, newest.get(entry.model) ?? from));
  }
  return newest;
}

function checkUnit(checker: Checker, at: Path, entry: Keys, model: Keys): void {
  const fit = fitOf(model.type);
  if (fit === null || typeof entry.billing_type !== "string") return;
  const units = Object.hasOwn(fit.units, entry.billing_type)
    ? fit.units[entry.billing_type as BillingType]!
    : null;
  if (units === null) {
    checker.report([...at, "billing_type"], {
      message: `${checker.written([...at, "billing_type"])} does not fit a ${model.type} model: ` +
        `use ${Object.keys(fit.units).join(", ")}`,
    });
  } else if (typeof entry.unit === "string" && !units.includes(entry.unit)) {
    // Amounts of another billing type: then that is the mistake, and the unit goes with them.
    if (Object.keys(entry).some((key) => checker.isSpoiled([...at, key]))) return;
    checker.report([...at, "unit"], {
      message: `${checker.written([...at, "unit"])} does not fit a ${model.type} model billed by ` +
        `${entry.billing_type}: use ${units.join(", ")}`,
    });
  }
}

function warnBelowCost(
  checker: Checker,
  at: Path,
  entry: Keys,
  priced: { model: Keys; index: number },
): void {
  for (const [index, upstream] of listOf(priced.model.upstreams).map(block).entries()) {
    const cost = block(upstream.cost);
    const source = ["models", priced.index, "upstreams", index];
    for (const key of ["price", "input_price", "output_price"]) {
      const [price, paid] = [perPiece(entry[key], entry.unit), perPiece(cost[key], cost.unit)];
      if (price === null || paid === null || price.family !== paid.family) continue;
      if (price.amount * paid.size >= paid.amount * price.size) continue;
      const [provider, amount] = [[...source, "provider"], [...source, "cost", key]].map((path) =>
        checker.written(path)
      );
      checker.report([...at, key], {
        severity: "warning",
        message: `is below what the provider ${provider} charges (${amount} per ${cost.unit})`,
      });
    }
  }
}

function perPiece(
  amount: unknown,
  unit: unknown,
): { amount: bigint; size: bigint; family: string } | null {
  if (typeof amount !== "string" || typeof unit !== "string" || !Object.hasOwn(UNIT_SIZES, unit)) {
    return null;
  }
  const value = parseDecimal(amount);
  return value === null
    ? null
    : { amount: value, size: UNIT_SIZES[unit]!, family: unitFamily(unit) };
}
