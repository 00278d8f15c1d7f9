import { blockOf, type Checker, listOf, type Names } from "./checker.ts";
import { bookWithParents, startOfPrice } from "./check_books.ts";
import { modelsOfPipeline } from "./compile_pipeline.ts";
import type { GatewayFile } from "./gateway_file.ts";
import type { Path } from "./issues.ts";

type Keys = Record<string, unknown>;

/** Which models a price book has prices for, without those of its parents. */
interface BookCoverage {
  priced: Set<string>;
  /** Models whose first price lies in the future, and when that price starts. */
  later: Map<string, number>;
  /** The names of the book and of its parents; null when one of them is invalid. */
  books: string[] | null;
}

/** Every plan that can see a model has a price for it that applies today. */
export function checkCoverage(checker: Checker, file: Partial<GatewayFile>, now: number): void {
  if (checker.isInvalid(["prices"]) || checker.isInvalid(["plans"])) return;
  const models = listOf(file.models).map(blockOf);
  const ids = new Set(models.map(({ id }) => id).filter((id) => typeof id === "string"));
  const coverage = coverageByBook(checker, blockOf(file.prices), ids, now);
  const plans: Keys = { free: {}, ...blockOf(file.plans) };
  const allBooks = booksOfPlans(Object.keys(plans), plans);
  const booksSeeing = (model: Keys) =>
    model.visible_to === undefined ? allBooks : booksOfVisibility(model.visible_to, plans);
  for (const [index, model] of models.entries()) {
    const seen = booksSeeing(model);
    if (typeof model.id !== "string") continue;
    checkPipelineCoverage(checker, index, models, { booksSeeing, coverage });
    for (const name of booksWithoutPrice(model.id, seen.keys(), coverage)) {
      checker.report(["models", index, "id"], {
        message: `has no active price in the price book "${name}", which ${seen.get(name)}${
          futurePrice(model.id, name, coverage)
        }`,
        suggestion: model.visible_to === undefined || blockOf(model.visible_to).plans !== undefined
          ? `Add an entry to prices.${name}, or narrow visible_to.`
          : `Add an entry to prices.${name}.`,
      });
    }
  }
}

/**
 * A customer who can see a drama pays for the models of its pipeline, and may not be able to see those
 * models themselves.
 */
function checkPipelineCoverage(
  checker: Checker,
  index: number,
  models: readonly Keys[],
  { booksSeeing, coverage }: {
    booksSeeing: (model: Keys) => ReadonlyMap<string, string>;
    coverage: ReadonlyMap<string, BookCoverage>;
  },
): void {
  const seen = booksSeeing(models[index]!);
  for (const { path, model: id } of modelsOfPipeline(models[index]!.chain)) {
    const used = models.find((model) => model.id === id);
    if (used === undefined) continue;
    const reported = booksSeeing(used);
    const missing = booksWithoutPrice(id, seen.keys(), coverage).filter((name) =>
      !reported.has(name)
    );
    for (const name of missing) {
      checker.report(["models", index, "chain", ...path], {
        message: `has no active price in the price book "${name}", which ${seen.get(name)}`,
        suggestion: `Add an entry to prices.${name}.`,
      });
    }
  }
}

function coverageByBook(
  checker: Checker,
  books: Keys,
  ids: NonNullable<Names>,
  now: number,
): Map<string, BookCoverage> {
  const coverage = new Map<string, BookCoverage>();
  const invalid = new Set<string>();
  for (const [name, item] of Object.entries(books)) {
    const book = blockOf(item);
    const cover: BookCoverage = { priced: new Set(), later: new Map(), books: null };
    coverage.set(name, cover);
    if (!Array.isArray(book.entries)) invalid.add(name);
    for (const [index, entry] of listOf(book.entries).map(blockOf).entries()) {
      const path: Path = ["prices", name];
      const start = startOfPrice(checker, path, { book, entry, index });
      const isValid = typeof entry.model === "string" &&
        !checker.isInvalid([...path, "entries", index, "model"]);
      if (!isValid) invalid.add(name);
      else addPrice(cover, intendedModel(checker, entry.model as string, ids), start, now);
    }
  }
  for (const [name, cover] of coverage) {
    const withParents = bookWithParents(name, books);
    const isComplete = withParents.at(-1)?.book.extends === undefined &&
      !withParents.some((parent) => invalid.has(parent.name));
    if (isComplete) cover.books = withParents.map((parent) => parent.name);
  }
  return coverage;
}

/** A misspelt model is reported elsewhere: the model it probably means counts as priced. */
function intendedModel(checker: Checker, model: string, ids: NonNullable<Names>): string {
  return ids.has(model) ? model : checker.suggest(model, ids) ?? model;
}

function addPrice(
  { priced, later }: BookCoverage,
  model: string,
  start: number,
  now: number,
): void {
  // An invalid date (NaN) is reported elsewhere.
  if (start > now) later.set(model, Math.min(start, later.get(model) ?? start));
  else priced.add(model);
}

/** The price books that plans use, each with a text for the message. */
function booksOfPlans(names: readonly string[], plans: Keys): Map<string, string> {
  const books = new Map<string, string>();
  for (const name of names) {
    const book = blockOf(plans[name]).price_book ?? "default";
    if (typeof book === "string" && !books.has(book)) books.set(book, `the plan "${name}" uses`);
  }
  return books;
}

function booksOfVisibility(visible: unknown, plans: Keys): Map<string, string> {
  const { plans: only } = blockOf(visible);
  const names = listOf(only).filter((name) =>
    typeof name === "string" && Object.hasOwn(plans, name)
  );
  if (names.length > 0) return booksOfPlans(names as string[], plans);
  // Visible to single accounts only: they may be on any plan, so the default book must have a price.
  const isByAccount = only === undefined && blockOf(visible).accounts !== undefined;
  return new Map(isByAccount ? [["default", "accounts use by default"]] : []);
}

/** Books without a price for the model, except those whose parent is reported already. */
function booksWithoutPrice(
  model: string,
  names: Iterable<string>,
  coverage: ReadonlyMap<string, BookCoverage>,
): string[] {
  const missing = [...names].filter((name) => {
    const books = coverage.get(name)?.books ?? null;
    return books !== null && !books.some((book) => coverage.get(book)!.priced.has(model));
  });
  if (missing.length < 2) return missing;
  const all = new Set(missing);
  return missing.filter((name) =>
    !coverage.get(name)!.books!.slice(1).some((book) => all.has(book))
  );
}

function futurePrice(
  model: string,
  name: string,
  coverage: ReadonlyMap<string, BookCoverage>,
): string {
  const starts = coverage.get(name)!.books!.flatMap((book) =>
    coverage.get(book)!.later.get(model) ?? []
  );
  return starts.length === 0
    ? ""
    : `; its first price starts at ${new Date(Math.min(...starts)).toISOString()}`;
}
