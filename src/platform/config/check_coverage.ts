import { blockOf, type Checker, listOf, type Names } from "./checker.ts";
import { bookAncestors, momentOf } from "./check_books.ts";
import { modelsOfPipeline } from "./compile_pipeline.ts";
import type { Declaration } from "./gateway_file.ts";
import type { Path } from "./faults.ts";

type Keys = Record<string, unknown>;

/** What a book says by itself about who has a price. */
interface Cover {
  priced: Set<string>;
  /** Models whose first price lies in the future, and when it starts. */
  later: Map<string, number>;
  /** The names of the book and of all it extends; null when something in there cannot be read. */
  chain: string[] | null;
}

/** Whoever can see a model must be able to pay for it, today. */
export function checkCoverage(checker: Checker, declared: Partial<Declaration>, now: number): void {
  if (checker.isSpoiled(["prices"]) || checker.isSpoiled(["plans"])) return;
  const models = listOf(declared.models).map(blockOf);
  const ids = new Set(models.map(({ id }) => id).filter((id) => typeof id === "string"));
  const covers = coversOf(checker, blockOf(declared.prices), ids, now);
  const plans: Keys = { free: {}, ...blockOf(declared.plans) };
  const everyone = booksOf(Object.keys(plans), plans);
  const booksSeeing = (model: Keys) =>
    model.visible_to === undefined ? everyone : booksOfFew(model.visible_to, plans);
  for (const [index, model] of models.entries()) {
    const seen = booksSeeing(model);
    if (typeof model.id !== "string") continue;
    checkChainCoverage(checker, index, models, booksSeeing, covers);
    for (const name of lackingBooks(model.id, seen.keys(), covers)) {
      checker.report(["models", index, "id"], {
        message: `has no price in force in the book "${name}", which ${seen.get(name)} uses${
          firstPrice(model.id, name, covers)
        }`,
        suggestion: model.visible_to === undefined || blockOf(model.visible_to).plans !== undefined
          ? `Add an entry to prices.${name}, or narrow visible_to.`
          : `Add an entry to prices.${name}.`,
      });
    }
  }
}

/** Whoever sees a drama pays for what it is made of, and may not see those models by themselves. */
function checkChainCoverage(
  checker: Checker,
  index: number,
  models: readonly Keys[],
  booksSeeing: (model: Keys) => ReadonlyMap<string, string>,
  covers: ReadonlyMap<string, Cover>,
): void {
  const seen = booksSeeing(models[index]!);
  for (const { path, model: id } of modelsOfPipeline(models[index]!.chain)) {
    const used = models.find((model) => model.id === id);
    if (used === undefined) continue;
    const told = booksSeeing(used);
    const lacking = lackingBooks(id, seen.keys(), covers).filter((name) => !told.has(name));
    for (const name of lacking) {
      checker.report(["models", index, "chain", ...path], {
        message: `has no price in force in the book "${name}", which ${seen.get(name)} uses`,
        suggestion: `Add an entry to prices.${name}.`,
      });
    }
  }
}

function coversOf(
  checker: Checker,
  books: Keys,
  ids: NonNullable<Names>,
  now: number,
): Map<string, Cover> {
  const covers = new Map<string, Cover>();
  const unclear = new Set<string>();
  for (const [name, item] of Object.entries(books)) {
    const book = blockOf(item);
    const cover: Cover = { priced: new Set(), later: new Map(), chain: null };
    covers.set(name, cover);
    if (!Array.isArray(book.entries)) unclear.add(name);
    for (const [index, entry] of listOf(book.entries).map(blockOf).entries()) {
      const path: Path = ["prices", name];
      const from = momentOf(checker, path, book, entry, index);
      const isClear = typeof entry.model === "string" &&
        !checker.isSpoiled([...path, "entries", index, "model"]);
      if (!isClear) unclear.add(name);
      else note(cover, meantModel(checker, entry.model as string, ids), from, now);
    }
  }
  for (const [name, cover] of covers) {
    const chain = bookAncestors(name, books);
    const isWhole = chain.at(-1)?.book.extends === undefined &&
      !chain.some((link) => unclear.has(link.name));
    if (isWhole) cover.chain = chain.map((link) => link.name);
  }
  return covers;
}

/** A misspelt model has its fault already: the one it means counts as priced. */
function meantModel(checker: Checker, model: string, ids: NonNullable<Names>): string {
  return ids.has(model) ? model : checker.guess(model, ids) ?? model;
}

function note({ priced, later }: Cover, model: string, from: number, now: number): void {
  // A moment that cannot be read has its own fault.
  if (from > now) later.set(model, Math.min(from, later.get(model) ?? from));
  else priced.add(model);
}

/** The books that plans use, each with a plan to name in the message. */
function booksOf(names: readonly string[], plans: Keys): Map<string, string> {
  const books = new Map<string, string>();
  for (const name of names) {
    const book = blockOf(plans[name]).price_book ?? "default";
    if (typeof book === "string" && !books.has(book)) books.set(book, `the plan "${name}"`);
  }
  return books;
}

function booksOfFew(visible: unknown, plans: Keys): Map<string, string> {
  const { plans: only } = blockOf(visible);
  const names = listOf(only).filter((name) =>
    typeof name === "string" && Object.hasOwn(plans, name)
  );
  if (names.length > 0) return booksOf(names as string[], plans);
  // Seen by accounts only: they may be on any plan, and the default book is the floor.
  const isByAccount = only === undefined && blockOf(visible).accounts !== undefined;
  return new Map(isByAccount ? [["default", "every account without another"]] : []);
}

/** Books without a price for the model, except those that one entry in another would mend. */
function lackingBooks(
  model: string,
  names: Iterable<string>,
  covers: ReadonlyMap<string, Cover>,
): string[] {
  const lacking = [...names].filter((name) => {
    const chain = covers.get(name)?.chain ?? null;
    return chain !== null && !chain.some((link) => covers.get(link)!.priced.has(model));
  });
  if (lacking.length < 2) return lacking;
  const all = new Set(lacking);
  return lacking.filter((name) => !covers.get(name)!.chain!.slice(1).some((link) => all.has(link)));
}

function firstPrice(model: string, name: string, covers: ReadonlyMap<string, Cover>): string {
  const moments = covers.get(name)!.chain!.flatMap((link) =>
    covers.get(link)!.later.get(model) ?? []
  );
  return moments.length === 0
    ? ""
    : `: its first one starts at ${new Date(Math.min(...moments)).toISOString()}`;
}
