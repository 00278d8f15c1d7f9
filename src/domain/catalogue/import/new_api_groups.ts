import { escapeReferences } from "../../../lib/yaml/references.ts";
import type { DraftBook, DraftConfig } from "../draft_config.ts";
import type { ImportNotes } from "./imported.ts";
import { keyName, uniqueName } from "./names.ts";
import { type NewApiPrices, scaledPrice } from "./new_api_prices.ts";

/** The group of users and channels that are in no other. */
export const DEFAULT_GROUP = "default";
const DEFAULT_PLAN = "free";
const NAME_MAX = 80;

/** Groups of new-api as plans: the default one is `free`. */
export class NewApiGroups {
  readonly #plans = new Map<string, string>();

  /** The default group first. */
  constructor(groups: Iterable<string>) {
    const taken = new Set<string>();
    for (const group of new Set([DEFAULT_GROUP, ...groups])) {
      const wish = group === DEFAULT_GROUP ? DEFAULT_PLAN : keyName(group) ?? "group";
      // Price books have the names of plans, and one of them is always called default.
      this.#plans.set(group, uniqueName(wish === "default" ? "group" : wish, taken));
    }
  }

  planOf(group: string): string {
    return this.#plans.get(group) ?? DEFAULT_PLAN;
  }

  /** Null: all plans see the model. */
  visibleTo(groups: ReadonlySet<string>): { plans: string[] } | null {
    const all = [...this.#plans];
    const seeing = all.filter(([group]) => groups.has(group)).map(([, plan]) => plan);
    return seeing.length === all.length ? null : { plans: seeing };
  }

  /** A plan for each group, and a price book for each group with a factor of its own. The draft has prices without factors. */
  addPlans(
    draft: DraftConfig & { readonly prices: { readonly default: DraftBook } },
    prices: NewApiPrices,
    notes: ImportNotes,
  ): DraftConfig {
    const base = prices.groupFactor(DEFAULT_GROUP);
    const books: Record<string, DraftBook> = {
      default: bookOf(draft, { plan: DEFAULT_PLAN, factor: base }),
    };
    if (this.#plans.size === 1) return { ...draft, prices: books };
    const plans = [...this.#plans].map(([group, plan]) => {
      const factor = prices.groupFactor(group);
      const name = escapeReferences(group).slice(0, NAME_MAX).toWellFormed();
      if (factor === base) return [plan, { name }] as const;
      books[plan] = { ...bookOf(draft, { plan, factor }), extends: "default" };
      notes.take(`group ${group}`, `plan ${plan} with a price book, times ${factor}`);
      return [plan, { name, price_book: plan }] as const;
    });
    return { ...draft, plans: Object.fromEntries(plans), prices: books };
  }
}

/** Prices times a factor, for the models that a plan sees; those of the default plan are for all that have no other. */
function bookOf(
  { models, prices }: DraftConfig & { readonly prices: { readonly default: DraftBook } },
  { plan, factor }: { plan: string; factor: number },
): DraftBook {
  const hidden = new Set(
    models.filter(({ visible_to }) =>
      plan !== DEFAULT_PLAN && visible_to !== undefined && !visible_to.plans?.includes(plan)
    )
      .map(({ id }) => id),
  );
  const entries = prices.default.entries.filter(({ model }) => !hidden.has(model))
    .map(({ model, ...price }) => ({ model, ...scaledPrice(price, factor) }));
  return { effective_at: prices.default.effective_at, entries };
}
