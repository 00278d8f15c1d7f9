import { parseDecimal } from "../../lib/money.ts";
import type { YamlEdit } from "../../lib/yaml/edit_yaml.ts";
import { definitionOf } from "../../model_types/model_types.ts";
import { unitOf } from "../../model_types/units.ts";
import type {
  CostEntry,
  GatewayFile,
  ModelEntry,
  PriceEntry,
} from "../../platform/config/gateway_file.ts";
import { type Catalogue, type CatalogueCost, dearestCost, findCost } from "./catalogue.ts";
import { inUnit, timesFactor } from "./decimals.ts";
import { mapAmounts } from "./map_terms.ts";

export interface ProposedChange {
  readonly model: string;
  /** provider/model of a cost; null for the price. */
  readonly upstream: string | null;
  /** The key, such as `input_price` or `service_tiers.priority`; empty for the whole cost or entry. */
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly edit: YamlEdit;
}

export interface Proposal {
  readonly changes: readonly ProposedChange[];
  /** What the catalogue cannot say, with the reason. */
  readonly skipped: readonly { model: string; upstream: string | null; reason: string }[];
}

export interface ProposalOptions {
  readonly book: string;
  /** A factor for prices; null leaves prices as they are. */
  readonly markup: string | null;
  /** Only these models; null for all. */
  readonly models: ReadonlySet<string> | null;
  readonly now: number;
}

/**
 * What must change in a configuration file so that the costs of its upstreams are those of a catalogue, and prices are
 * those of the dearest upstream times the markup. Keys that the catalogue does not know stay as they are.
 */
export function proposePrices(
  file: GatewayFile,
  catalogue: Catalogue,
  options: ProposalOptions,
): Proposal {
  const proposing = new Proposing(file, catalogue, options);
  for (const [index, model] of file.models.entries()) {
    if (options.models === null || options.models.has(model.id)) proposing.addModel(model, index);
  }
  return proposing;
}

class Proposing implements Proposal {
  readonly changes: ProposedChange[] = [];
  readonly skipped: { model: string; upstream: string | null; reason: string }[] = [];
  #newEntries = 0;

  constructor(
    private readonly file: GatewayFile,
    private readonly catalogue: Catalogue,
    private readonly options: ProposalOptions,
  ) {}

  addModel(model: ModelEntry, index: number): void {
    const costs: CatalogueCost[] = [];
    for (const [at, upstream] of (model.upstreams ?? []).entries()) {
      const { adapter } = this.file.providers[upstream.provider]!;
      if (adapter === "simulator") continue;
      const upstreamModel = upstream.model ?? model.id;
      const name = `${upstream.provider}/${upstreamModel}`;
      const found = findCost(this.catalogue, [upstream.provider, adapter], upstreamModel);
      const cost = this.#fitting(model, name, { found, before: upstream.cost });
      if (cost === null) continue;
      costs.push(cost);
      const path = ["models", index, "upstreams", at, "cost"];
      this.#addTerms({ model: model.id, upstream: name, path }, upstream.cost, cost);
    }
    if (costs.length > 0 && this.options.markup !== null) this.#addPrice(model, costs);
  }

  #addPrice(model: ModelEntry, costs: readonly CatalogueCost[]): void {
    const { book, markup, now } = this.options;
    const { entries, effective_at } = this.file.prices[book]!;
    const applies = (entry: PriceEntry) =>
      entry.model === model.id && Date.parse(entry.effective_at ?? effective_at) <= now;
    const at = entries.findLastIndex(applies);
    const dearest = dearestCost(costs);
    const before = at === -1 ? undefined : entries[at];
    const fitting = this.#fitting(model, null, { found: dearest, before });
    if (fitting === null) return;
    const price = mapAmounts(fitting, (amount) => timesFactor(amount, markup!));
    const entry = { model: model.id, billing_type: billingTypeOf(price.unit), ...price };
    const place = at === -1 ? entries.length + this.#newEntries++ : at;
    const path = ["prices", book, "entries", place];
    this.#addTerms({ model: model.id, upstream: null, path }, before, entry);
  }

  /** In the unit that the file has; null, with a reason, if the model cannot be sold so. */
  #fitting(
    model: ModelEntry,
    upstream: string | null,
    { found, before }: { found: CatalogueCost | null; before: CostEntry | undefined },
  ): CatalogueCost | null {
    const skip = (reason: string) => {
      this.skipped.push({ model: model.id, upstream, reason });
      return null;
    };
    if (found === null) return skip("not in the catalogue");
    const units = Object.values(definitionOf(model.type)?.units ?? {}).flat();
    const { family, size } = unitOf(found.unit)!;
    if (!units.some((unit) => unitOf(unit)?.family === family)) {
      return skip(`the catalogue has it per ${found.unit}, which is no unit of ${model.type}`);
    }
    const own = unitOf(before?.unit);
    if (own === null) return found;
    if (own.family !== family) {
      return skip(`the catalogue has it per ${found.unit}, the file per ${before!.unit}`);
    }
    const fees = found.fees === undefined ? {} : { fees: found.fees };
    return {
      ...mapAmounts(found, (each) => inUnit(each, size, own.size)),
      ...fees,
      unit: before!.unit,
    };
  }

  #addTerms(
    { path, ...subject }: Pick<ProposedChange, "model" | "upstream"> & { path: YamlEdit["path"] },
    before: object | undefined,
    after: object,
  ): void {
    for (const { keys, old, value } of differences(before, after)) {
      const edit = { path: [...path, ...keys], value };
      this.changes.push({
        ...subject,
        key: keys.join("."),
        before: old ?? null,
        after: value,
        edit,
      });
    }
  }
}

interface Difference {
  readonly keys: readonly (string | number)[];
  readonly old: unknown;
  readonly value: unknown;
}

/** As few values as possible: what else a mapping has, and comments between its keys, stay. */
function differences(old: unknown, value: unknown, keys: Difference["keys"] = []): Difference[] {
  if (isSame(old, value)) return [];
  if (!isBlock(old) || !isBlock(value) || !canMerge(old, value)) return [{ keys, old, value }];
  return Object.entries(value).flatMap(([key, each]) =>
    differences(old[key], each, [...keys, Array.isArray(value) ? Number(key) : key])
  );
}

type Block = Record<string, unknown>;

function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null;
}

/** Not a factor with amounts, and not tiers that begin elsewhere. */
function canMerge(old: Block, value: Block): boolean {
  if (!Array.isArray(old) || !Array.isArray(value)) {
    return ("multiplier" in old) === ("multiplier" in value);
  }
  return old.length === value.length &&
    old.every(({ above_input_tokens }, at) => above_input_tokens === value[at].above_input_tokens);
}

function billingTypeOf(unit: string): PriceEntry["billing_type"] {
  const { family } = unitOf(unit)!;
  return family === "tokens" ? "token" : family === "second" ? "duration" : "per_call";
}

/** As amounts: "2.5" is "2.50". */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a === "string" && typeof b === "string") {
    const [x, y] = [parseDecimal(a), parseDecimal(b)];
    return x === null || y === null ? a === b : x === y;
  }
  if (!isBlock(a) || !isBlock(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isSame(a[key], b[key]));
}
