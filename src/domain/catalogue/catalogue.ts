import { decimal } from "../../lib/money.ts";
import { unitOf } from "../../model_types/units.ts";
import type { PriceTerms } from "../../model_types/price_terms.ts";

/** What a provider charges for a model, as a public catalogue says: a cost as in the configuration file. */
export type CatalogueCost = PriceTerms & { readonly unit: string };

/** Costs of models by the name of their provider in the catalogue, as `providerKey` writes it, and their own name. */
export type Catalogue = ReadonlyMap<string, ReadonlyMap<string, CatalogueCost>>;

/** The file is not a catalogue of this format. */
export class CatalogueError extends Error {
  override readonly name = "CatalogueError";
}

/** Names of one provider: ours, and what catalogues call it. */
const OTHER_NAMES: Readonly<Record<string, string>> = { google: "gemini", vertexai: "vertex" };

/** One spelling of a provider's name: `fal_ai` and `fal`, `runwayml` and `runway` are the same. */
export function providerKey(provider: string): string {
  const letters = provider.toLowerCase().replace(/[^a-z0-9]/g, "");
  return OTHER_NAMES[letters] ?? (letters.replace(/(?:ai|ml)$/, "") || letters);
}

/** The cost of a model at a provider, which is known by any of these names; null if the catalogue has none. */
export function findCost(
  catalogue: Catalogue,
  providers: readonly string[],
  model: string,
): CatalogueCost | null {
  for (const provider of providers) {
    const found = catalogue.get(providerKey(provider))?.get(model);
    if (found !== undefined) return found;
  }
  return null;
}

export function parseCatalogue(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CatalogueError(`The file is not JSON: ${(error as Error).message}`);
  }
  return objectOf(value) ?? fail("The file is not a JSON object.");
}

export function fail(message: string): never {
  throw new CatalogueError(message);
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : null;
}

/** Adds a cost; a name that comes twice keeps the first. */
export function addCost(
  catalogue: Map<string, Map<string, CatalogueCost>>,
  { provider, model, cost }: { provider: string; model: string; cost: CatalogueCost },
): void {
  const key = providerKey(provider);
  const models = catalogue.get(key) ?? new Map<string, CatalogueCost>();
  if (!models.has(model)) models.set(model, cost);
  catalogue.set(key, models);
}

/** The highest of some costs, of which there is at least one. */
export function dearestCost<Cost extends CatalogueCost>(costs: readonly Cost[]): Cost {
  return costs.reduce((a, b) => amountOf(b) > amountOf(a) ? b : a);
}

/** By what most requests are made of. */
function amountOf(cost: CatalogueCost): bigint {
  const { size } = unitOf(cost.unit)!;
  const sum = decimal(cost.price ?? "0") + decimal(cost.input_price ?? "0") +
    decimal(cost.output_price ?? "0");
  return sum * 1_000_000n / size;
}
