import { providerKey } from "../catalogue.ts";
import { type LitellmFields, readLitellmEntries } from "../read_litellm.ts";

/** LiteLLM's list of models by provider: for what the imported file does not say of its models. */
export class PriceList {
  readonly #models = new Map<string, Map<string, LitellmFields>>();

  constructor(text: string) {
    for (const { provider, model, fields } of readLitellmEntries(text)) {
      const key = providerKey(provider);
      const models = this.#models.get(key) ?? new Map<string, LitellmFields>();
      if (!models.has(model)) models.set(model, fields);
      this.#models.set(key, models);
    }
  }

  /** The first of these models that the provider has, under any of its names. */
  find(providers: readonly string[], models: readonly string[]): LitellmFields | null {
    for (const model of models) {
      for (const provider of providers) {
        const found = this.#models.get(providerKey(provider))?.get(model);
        if (found !== undefined) return found;
      }
    }
    return null;
  }
}
