import { escapeReferences } from "../../../lib/yaml/references.ts";
import type { PriceEntry } from "../../../platform/config/gateway_file.ts";
import type { DraftBook, DraftConfig, DraftModel, DraftUpstream } from "../draft_config.ts";
import type { ImportNotes } from "./imported.ts";
import { modelId, uniqueName } from "./names.ts";

/** As many as the configuration takes. */
export const UPSTREAMS_MAX = 32;
const ALIASES_MAX = 32;
const NAME_MAX = 120;
const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

type Described = Omit<DraftModel, "id" | "name">;

/** The models of the new configuration, by their names in the old one. */
export class ModelDrafts {
  readonly #models = new Map<string, DraftModel>();
  /** Upstreams of each model before others were added. */
  readonly #own = new Map<string, readonly DraftUpstream[]>();
  readonly #entries: PriceEntry[] = [];
  readonly #ids = new Set<string>();

  constructor(private readonly notes: ImportNotes) {}

  get isEmpty(): boolean {
    return this.#models.size === 0;
  }

  /** The id that clients use. `modelId` has one for the name. */
  add(name: string, described: Described, price: Omit<PriceEntry, "model">): string {
    const id = uniqueName(modelId(name)!, this.#ids);
    if (id !== name) this.notes.change(name, `clients ask for ${id}: ids have no other characters`);
    const upstreams = described.upstreams.slice(0, UPSTREAMS_MAX);
    if (upstreams.length < described.upstreams.length) {
      this.notes.leaveOut(id, `upstreams after the first ${UPSTREAMS_MAX}`);
    }
    const { type, ...rest } = described;
    const shown = escapeReferences(name).slice(0, NAME_MAX).toWellFormed();
    this.#models.set(name, { id, name: shown, type, ...rest, upstreams });
    this.#own.set(name, upstreams);
    this.#entries.push({ model: id, ...price } as PriceEntry);
    return id;
  }

  #noteMissingLimits(): void {
    const without = [...this.#models.values()].filter(({ type, limits }) =>
      type === "chat" && limits?.max_output_tokens === undefined
    );
    if (without.length === 0) return;
    this.notes.change(
      "limits",
      `answers end at 4096 tokens until limits.max_output_tokens is set, of ${
        without.map(({ id }) => id).join(", ")
      }`,
    );
  }

  idOf(name: string): string | null {
    return this.#models.get(name)?.id ?? null;
  }

  /** Whether the upstreams of another model could be added behind those of a model. */
  addFallback(name: string, other: string): boolean {
    const [model, own] = [this.#models.get(name), this.#own.get(other)];
    if (model === undefined || own === undefined || name === other) return false;
    if (this.#models.get(other)!.type !== model.type) return false;
    const last = Math.max(...model.upstreams.map(({ priority = 0 }) => priority));
    const added = own.map(({ provider, model: upstream, priority = 0, ...rest }) => ({
      provider,
      model: upstream!,
      priority: last + 1 + priority,
      ...rest,
    }));
    const upstreams = [...model.upstreams, ...added].slice(0, UPSTREAMS_MAX);
    this.#models.set(name, { ...model, upstreams });
    return true;
  }

  addAlias(alias: string, name: string): void {
    const model = this.#models.get(name);
    const { aliases = [] } = model ?? {};
    const isFree = ID.test(alias) && !this.#ids.has(alias) && aliases.length < ALIASES_MAX;
    if (model === undefined || !isFree) {
      const reason = model === undefined ? "is not imported" : "the alias is taken or not an id";
      this.notes.leaveOut(`alias ${alias}`, `of ${name}: ${reason}`);
      return;
    }
    this.#ids.add(alias);
    const { id, aliases: _, ...rest } = model;
    this.#models.set(name, { id, aliases: [...aliases, alias], ...rest });
  }

  /** With one price book. */
  toDraft(
    providers: DraftConfig["providers"],
    now: number,
  ): DraftConfig & { readonly prices: { readonly default: DraftBook } } {
    this.#noteMissingLimits();
    return {
      plans: {},
      providers,
      models: [...this.#models.values()],
      prices: { default: { effective_at: dayOf(now), entries: this.#entries } },
    };
  }
}

/** The beginning of a day: prices of a file apply from the day on which it was made. */
function dayOf(now: number): string {
  return `${new Date(now).toISOString().slice(0, 10)}T00:00:00+00:00`;
}
