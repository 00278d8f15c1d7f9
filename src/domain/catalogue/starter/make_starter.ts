import type { PriceEntry } from "../../../platform/config/gateway_file.ts";
import type { DraftConfig, DraftModel, DraftProvider } from "../draft_config.ts";
import shipped from "./shipped_models.json" with { type: "json" };
import { STARTER_PROVIDERS } from "./starter_providers.ts";

/** Models and prices that this version ships, as in its gateway.yaml. */
export interface ShippedModels {
  readonly effective_at: string;
  readonly models: readonly DraftModel[];
  readonly entries: readonly PriceEntry[];
}

export interface Starter {
  readonly draft: DraftConfig;
  /** Environment variables that the file refers to. */
  readonly variables: readonly string[];
  /** Chosen providers for which no model with a price is shipped. */
  readonly withoutModels: readonly string[];
  /** None of the chosen providers has a model, so the simulator was added. */
  readonly isSimulated: boolean;
}

const SIMULATOR = "simulator";

/** A small configuration for some providers. Where none of them has a shipped model, the simulator has one. */
export function makeStarter(
  providers: readonly string[],
  source: ShippedModels = shipped as ShippedModels,
): Starter {
  const modelsFor = (names: readonly string[]) => modelsOf(new Set(names), source.models);
  const withoutModels = providers.filter((name) => modelsFor([name]).length === 0);
  const isEmpty = withoutModels.length === providers.length;
  const models = isEmpty
    ? modelsFor([SIMULATOR]).filter(({ type }) => type === "chat")
    : modelsFor(providers);
  const used = isEmpty ? [...providers, SIMULATOR] : providers;
  const ids = new Set(models.map(({ id }) => id));
  const entries = source.entries.filter(({ model }) => ids.has(model));
  return {
    draft: {
      plans: {},
      providers: Object.fromEntries(used.map((name) => [name, providerEntry(name)])),
      models,
      prices: { default: { effective_at: source.effective_at, entries } },
    },
    variables: used.flatMap(variablesOf),
    withoutModels,
    isSimulated: isEmpty,
  };
}

function variablesOf(name: string): string[] {
  const { apiKey, baseUrl } = STARTER_PROVIDERS[name]!;
  return [apiKey, baseUrl].filter((variable) => typeof variable === "string");
}

function providerEntry(name: string): DraftProvider {
  const { apiKey, baseUrl } = STARTER_PROVIDERS[name]!;
  return {
    adapter: name,
    ...(baseUrl === undefined ? {} : { base_url: `\${${baseUrl}}` }),
    ...(apiKey === null ? {} : { api_key: `\${${apiKey}}` }),
  };
}

/** Models with the upstreams of these providers. Of the simulator, which has many, the first of each type. */
function modelsOf(providers: ReadonlySet<string>, models: readonly DraftModel[]): DraftModel[] {
  const simulated = new Set<string>();
  return models.flatMap((model) => {
    const upstreams = model.upstreams.filter(({ provider }) => providers.has(provider));
    if (upstreams.length === 0) return [];
    if (upstreams.every(({ provider }) => provider === SIMULATOR)) {
      if (simulated.has(model.type)) return [];
      simulated.add(model.type);
    }
    // A single upstream has no other to come before.
    const { priority: _, ...alone } = upstreams[0]!;
    return [{ ...model, upstreams: upstreams.length === 1 ? [alone] : upstreams }];
  });
}
