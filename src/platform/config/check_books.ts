import { blockOf, type Checker, listOf } from "./checker.ts";
import type { Path } from "./faults.ts";

type Keys = Record<string, unknown>;

/** A book and its name. */
export interface BookWithParents {
  name: string;
  book: Keys;
}

/** Every book is laid out with what it extends: chains are short, and so is the sum. */
const EXTENDED_MAX = 16;
const PRICES_MAX = 1_000_000;

/** Books: what they extend exists, ends somewhere, and is not too much to lay out. */
export function checkBooks(checker: Checker, books: Keys): void {
  const names = checker.names(["prices"], books);
  for (const [name, item] of Object.entries(books)) {
    const extended = blockOf(item).extends;
    if (typeof extended !== "string") continue;
    checker.reference(["prices", name, "extends"], extended, "price book", names);
  }
  checkChains(checker, books);
}

/** A book and what it extends, nearest first; cut off where it would go in a circle or on for ever. */
export function bookAncestors(name: string, books: Keys): BookWithParents[] {
  const chain: BookWithParents[] = [];
  const seen = new Set<string>();
  let next: unknown = name;
  while (typeof next === "string" && Object.hasOwn(books, next) && !seen.has(next)) {
    const book = blockOf(books[next]);
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
    const chain = bookAncestors(name, books);
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
function isCircle(chain: readonly BookWithParents[]): boolean {
  const [first] = chain;
  return chain.at(-1)?.book.extends === first?.name &&
    chain.every(({ name }) => name >= first!.name);
}

/** When a price starts; not a number when that cannot be read. */
export function momentOf(
  checker: Checker,
  path: Path,
  book: Keys,
  entry: Keys,
  index: number,
): number {
  const [at, moment] = entry.effective_at === undefined
    ? [[...path, "effective_at"], book.effective_at]
    : [[...path, "entries", index, "effective_at"], entry.effective_at];
  return checker.isSpoiled(at) ? NaN : Date.parse(String(moment));
}
