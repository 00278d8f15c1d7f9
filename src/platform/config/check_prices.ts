import { blockOf, type Checker, listOf, type Names } from "./checker.ts";
import { startOfPrice } from "./check_books.ts";
import { checkTerms } from "./check_costs.ts";
import { type PlacedPrice, warnAboveNeighbours, warnMargins } from "./check_margins.ts";
import { type SmallestUnit, smallestUnitOf, warnBelowSmallestUnit } from "./check_smallest_unit.ts";
import type { GatewayFile } from "./gateway_file.ts";
import type { Path } from "./issues.ts";
import { modelNamesOf, type ModelsById, modelsById } from "./model_names.ts";
import { findDefinition, modelWithArticle } from "../../model_types/model_types.ts";
import type { BillingType } from "../../model_types/units.ts";

type Keys = Record<string, unknown>;

const OUTPUT_AMOUNTS = ["output_price", "reasoning_price", "audio_output_price"];

/** Prices: their models exist, their units belong to the model type, and they are not below cost. */
export function checkPrices(checker: Checker, file: Partial<GatewayFile>, now: number): void {
  const books = blockOf(file.prices);
  const models = modelsById(file);
  const smallestUnit = smallestUnitOf(file);
  const modelNames = modelNamesOf(checker, file, models);
  for (const [name, item] of Object.entries(books)) {
    checkEntries(checker, ["prices", name], blockOf(item), {
      models,
      modelNames,
      now,
      smallestUnit,
    });
  }
}

interface PriceContext {
  models: ModelsById;
  modelNames: Names;
  now: number;
  smallestUnit: SmallestUnit;
}

function checkEntries(
  checker: Checker,
  path: Path,
  book: Keys,
  { models, modelNames, now, smallestUnit }: PriceContext,
): void {
  const entries = listOf(book.entries).map(blockOf);
  const starts = entries.map((entry, index) => startOfPrice(checker, path, { book, entry, index }));
  const current = activeStarts(entries, starts, now);
  const seen = new Map<string, number>();
  const inForce: PlacedPrice[] = [];
  for (const [index, entry] of entries.entries()) {
    const at: Path = [...path, "entries", index];
    if (typeof entry.model !== "string") continue;
    checker.reference([...at, "model"], entry.model, "model", modelNames);
    const start = starts[index]!;
    const key = `${entry.model} ${start}`;
    const first = Number.isNaN(start) ? undefined : seen.get(key);
    if (first !== undefined) {
      checker.report([...at, "model"], {
        message: `entries[${first}] is a price for this model with the same effective_at`,
        suggestion: "Give one of them another effective_at.",
      });
    } else seen.set(key, index);
    const priced = models.get(entry.model);
    if (priced === undefined) continue;
    checkUnit(checker, at, entry, priced.model);
    checkOutputPrice(checker, at, entry, priced.model);
    checkTerms(checker, at, entry, priced.model);
    // Old prices stay for receipts: a warning about them would not help.
    const isPast = start < (current.get(entry.model) ?? -Infinity);
    if (isPast) continue;
    inForce.push({ at, entry });
    warnMargins(checker, at, entry, priced);
    warnBelowSmallestUnit(checker, at, entry, smallestUnit);
  }
  warnAboveNeighbours(checker, inForce);
}

function activeStarts(
  entries: readonly Keys[],
  starts: readonly number[],
  now: number,
): Map<string, number> {
  const newest = new Map<string, number>();
  for (const [index, { model }] of entries.entries()) {
    const start = starts[index]!;
    if (typeof model !== "string" || !(start <= now)) continue;
    newest.set(model, Math.max(start, newest.get(model) ?? start));
  }
  return newest;
}

/** Output tokens have a price where a model has them, and only there. */
function checkOutputPrice(checker: Checker, at: Path, entry: Keys, model: Keys): void {
  const definition = findDefinition(model.type);
  if (entry.billing_type !== "token" || definition?.units.token === undefined) return;
  if (definition.work === "embedding") return warnOutputPrice(checker, at, entry, model);
  if (entry.output_price !== undefined) return;
  // A misspelt one is reported by itself.
  if (Object.keys(entry).some((key) => checker.isInvalid([...at, key]))) return;
  checker.report(at, { message: 'the key "output_price" is missing' });
}

function warnOutputPrice(checker: Checker, at: Path, entry: Keys, model: Keys): void {
  for (const name of OUTPUT_AMOUNTS) {
    const amount = entry[name];
    // Public price catalogues say that it is free.
    if (typeof amount !== "string" || !/[1-9]/.test(amount)) continue;
    checker.report([...at, name], {
      severity: "warning",
      message: `has no effect: ${modelWithArticle(model.type)} has no output tokens`,
    }, "key");
  }
}

function checkUnit(checker: Checker, at: Path, entry: Keys, model: Keys): void {
  const definition = findDefinition(model.type);
  if (definition === null || typeof entry.billing_type !== "string") return;
  const units = Object.hasOwn(definition.units, entry.billing_type)
    ? definition.units[entry.billing_type as BillingType]!
    : null;
  if (units === null) {
    checker.report([...at, "billing_type"], {
      message:
        `${checker.sourceText([...at, "billing_type"])} is not a billing type of ${
          modelWithArticle(model.type)
        }: ` +
        `use ${Object.keys(definition.units).join(", ")}`,
    });
  } else if (typeof entry.unit === "string" && !units.includes(entry.unit)) {
    // The amounts belong to another billing type: that is reported, and the unit is a consequence of it.
    if (Object.keys(entry).some((key) => checker.isInvalid([...at, key]))) return;
    checker.report([...at, "unit"], {
      message:
        `${checker.sourceText([...at, "unit"])} is not a unit of ${
          modelWithArticle(model.type)
        } billed by ` +
        `${entry.billing_type}: use ${units.join(", ")}`,
    });
  }
}
