import { blockOf, type Checker, listOf } from "./checker.ts";
import type { Path } from "./issues.ts";

type Keys = Record<string, unknown>;

/** A price book and its name. */
export interface NamedBook {
  name: string;
  book: Keys;
}

/** A compiled book repeats the prices of its parents, so the number of parents and of prices is limited. */
const PARENTS_MAX = 16;
const PRICES_MAX = 1_000_000;

/** Price books: each parent exists, no book extends itself, and the result is not too large. */
export function checkBooks(checker: Checker, books: Keys): void {
  const names = checker.names(["prices"], books);
  for (const [name, item] of Object.entries(books)) {
    const parent = blockOf(item).extends;
    if (typeof parent !== "string") continue;
    checker.reference(["prices", name, "extends"], parent, "price book", names);
  }
  checkParents(checker, books);
}

/** A book and its parents, nearest first. Stops at the first repetition and above the limit. */
export function bookWithParents(name: string, books: Keys): NamedBook[] {
  const found: NamedBook[] = [];
  const seen = new Set<string>();
  let next: unknown = name;
  while (typeof next === "string" && Object.hasOwn(books, next) && !seen.has(next)) {
    const book = blockOf(books[next]);
    found.push({ name: next, book });
    if (found.length > PARENTS_MAX + 1) break;
    seen.add(next);
    next = book.extends;
  }
  return found;
}

function checkParents(checker: Checker, books: Keys): void {
  let prices = 0;
  let isReported = false;
  for (const name of Object.keys(books)) {
    const withParents = bookWithParents(name, books);
    const path = ["prices", name, "extends"];
    prices += withParents.reduce((sum, { book }) => sum + listOf(book.entries).length, 0);
    if (isCycle(withParents)) {
      const cycle = [...withParents.map((other) => other.name), name].join(" → ");
      checker.report(path, { message: `the price books extend each other in a cycle: ${cycle}` });
    }
    // Every book that extends this one has too many parents as well: report the first only.
    if (withParents.length > PARENTS_MAX + 1 && !isReported) {
      isReported = true;
      checker.report(path, { message: `has more than ${PARENTS_MAX} parent books` });
    }
  }
  if (prices > PRICES_MAX) {
    const message = `the price books hold more than ${
      PRICES_MAX.toLocaleString("en")
    } prices, counting those of their parents`;
    checker.report(["prices"], { message }, "key");
  }
}

/** True for one book of a cycle only: the one whose name sorts first. */
function isCycle(books: readonly NamedBook[]): boolean {
  const [first] = books;
  return books.at(-1)?.book.extends === first?.name &&
    books.every(({ name }) => name >= first!.name);
}

/** The time a price starts to apply; NaN when that is invalid. `path` is the path of its book. */
export function startOfPrice(
  checker: Checker,
  path: Path,
  { book, entry, index }: { book: Keys; entry: Keys; index: number },
): number {
  const [at, moment] = entry.effective_at === undefined
    ? [[...path, "effective_at"], book.effective_at]
    : [[...path, "entries", index, "effective_at"], entry.effective_at];
  return checker.isInvalid(at) ? NaN : Date.parse(String(moment));
}
