import { parseDecimal } from "../../lib/money.ts";
import { blockOf, type Checker, listOf, type Names } from "./checker.ts";
import { momentOf } from "./check_books.ts";
import { type SmallestUnit, smallestUnitOf, warnBelowSmallestUnit } from "./check_smallest_unit.ts";
import type { Declaration } from "./gateway_file.ts";
import { formatPath, type Path } from "./faults.ts";
import {
  type BillingType,
  modelTypeSpec,
  modelWithArticle,
  UNIT_SIZES,
  unitFamily,
} from "./model_type_specs.ts";

type Keys = Record<string, unknown>;
type Models = ReadonlyMap<string, { model: Keys; index: number }>;

/** Prices: they name models that exist, fit their type and do not lie below cost. */
export function checkPrices(checker: Checker, declared: Partial<Declaration>, now: number): void {
  const books = blockOf(declared.prices);
  const models = modelsById(declared);
  const smallestUnit = smallestUnitOf(declared);
  const modelNames = areAllNamed(checker, declared) ? namesOf(checker, models) : null;
  for (const [name, item] of Object.entries(books)) {
    checkEntries(checker, ["prices", name], blockOf(item), {
      models,
      modelNames,
      now,
      smallestUnit,
    });
  }
}

function modelsById(declared: Partial<Declaration>): Models {
  const models = new Map<string, { model: Keys; index: number }>();
  for (const [index, model] of listOf(declared.models).map(blockOf).entries()) {
    if (typeof model.id === "string" && !models.has(model.id)) {
      models.set(model.id, { model, index });
    }
  }
  return models;
}

/** Suggested are only ids that stand in the file: one from the environment is not to be told. */
function namesOf(checker: Checker, models: Models): Names {
  let written: string[] | undefined;
  const keys = () =>
    written ??= [...models].filter(([id, { index }]) =>
      checker.written(["models", index, "id"]) === JSON.stringify(id)
    ).map(([id]) => id);
  return { has: (id) => models.has(id), keys };
}

/** A price may mean the model whose id cannot be read: then no price is called a stray. */
function areAllNamed(checker: Checker, declared: Partial<Declaration>): boolean {
  if (!Array.isArray(declared.models) || checker.isSpoiled(["models"])) return false;
  return declared.models.every((model, index) =>
    typeof blockOf(model).id === "string" && !checker.isSpoiled(["models", index, "id"])
  );
}

interface Around {
  models: Models;
  modelNames: Names;
  now: number;
  smallestUnit: SmallestUnit;
}

function checkEntries(
  checker: Checker,
  path: Path,
  book: Keys,
  { models, modelNames, now, smallestUnit }: Around,
): void {
  const entries = listOf(book.entries).map(blockOf);
  const starts = entries.map((entry, index) => momentOf(checker, path, book, entry, index));
  const current = momentsInForce(entries, starts, now);
  const moments = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const at: Path = [...path, "entries", index];
    if (typeof entry.model !== "string") continue;
    checker.reference([...at, "model"], entry.model, "model", modelNames);
    const from = starts[index]!;
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
    if (isPast) continue;
    warnBelowCost(checker, at, entry, priced);
    warnBelowSmallestUnit(checker, at, entry, smallestUnit);
  }
}

function momentsInForce(
  entries: readonly Keys[],
  starts: readonly number[],
  now: number,
): Map<string, number> {
  const newest = new Map<string, number>();
  for (const [index, { model }] of entries.entries()) {
    const from = starts[index]!;
    if (typeof model !== "string" || !(from <= now)) continue;
    newest.set(model, Math.max(from, newest.get(model) ?? from));
  }
  return newest;
}

function checkUnit(checker: Checker, at: Path, entry: Keys, model: Keys): void {
  const fit = modelTypeSpec(model.type);
  if (fit === null || typeof entry.billing_type !== "string") return;
  const units = Object.hasOwn(fit.units, entry.billing_type)
    ? fit.units[entry.billing_type as BillingType]!
    : null;
  if (units === null) {
    checker.report([...at, "billing_type"], {
      message:
        `${checker.written([...at, "billing_type"])} does not fit ${
          modelWithArticle(model.type)
        }: ` +
        `use ${Object.keys(fit.units).join(", ")}`,
    });
  } else if (typeof entry.unit === "string" && !units.includes(entry.unit)) {
    // Amounts of another billing type: then that is the mistake, and the unit goes with them.
    if (Object.keys(entry).some((key) => checker.isSpoiled([...at, key]))) return;
    checker.report([...at, "unit"], {
      message:
        `${checker.written([...at, "unit"])} does not fit ${
          modelWithArticle(model.type)
        } billed by ` +
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
  for (const [index, upstream] of listOf(priced.model.upstreams).map(blockOf).entries()) {
    const cost = blockOf(upstream.cost);
    const source = ["models", priced.index, "upstreams", index];
    for (const key of ["price", "input_price", "output_price"]) {
      const [price, paid] = [perPiece(entry[key], entry.unit), perPiece(cost[key], cost.unit)];
      if (price === null || paid === null || price.family !== paid.family) continue;
      if (price.amount * paid.size >= paid.amount * price.size) continue;
      checker.report([...at, key], {
        severity: "warning",
        // Neither who it is nor the cost: this goes into the log, which others may read.
        message: `is below the cost of ${formatPath(source)}`,
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
