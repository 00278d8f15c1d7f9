import type { Account } from "../../domain/accounts/accounts.ts";
import { pricesFor } from "../../domain/pricing/find_price.ts";
import type { AccountPlan, Config, Price } from "../../platform/config/config.ts";
import { type DescribedQuota, describeQuotas } from "../../platform/config/describe.ts";

interface Change<T> {
  before: T;
  after: T;
}

/** A price as the API shows it. */
type ShownPrice = Readonly<Record<string, unknown>>;

/** What another plan or price book would mean for an account. Nothing is changed. */
export interface AccountPreview {
  object: "account_preview";
  account: string;
  plan: Change<string>;
  price_book: Change<string | null>;
  limits: Change<Record<string, number>>;
  quotas: Change<Record<string, DescribedQuota>>;
  /** The models whose price changes; null where the account cannot use the model. */
  prices: ({ model: string } & Change<ShownPrice | null>)[];
}

/** Compares an account with what it would be. `wanted` has the fields that change. */
export function previewChange(
  config: Config,
  account: Account,
  wanted: { plan?: string | undefined; price_book?: string | null | undefined },
  toShown: (config: Config, price: Price) => ShownPrice,
): AccountPreview {
  const now = Date.now();
  const before = { plan: account.plan, price_book: account.price_book };
  const after = {
    plan: wanted.plan ?? before.plan,
    price_book: wanted.price_book === undefined ? before.price_book : wanted.price_book,
  };
  const of = (state: typeof before) => {
    const plan = config.plans.get(state.plan) ?? config.plans.get("free")!;
    const priced = { id: account.id, plan: plan.id, priceBook: state.price_book };
    const prices = pricesFor(config, priced, now);
    return { plan, prices: new Map(prices.map((price) => [price.model, toShown(config, price)])) };
  };
  const [was, will] = [of(before), of(after)];
  return {
    object: "account_preview",
    account: account.id,
    plan: { before: before.plan, after: after.plan },
    price_book: { before: before.price_book, after: after.price_book },
    limits: { before: limitsOf(was.plan), after: limitsOf(will.plan) },
    quotas: { before: describeQuotas(was.plan), after: describeQuotas(will.plan) },
    prices: [...config.models.keys()]
      .map((model) => ({
        model,
        before: was.prices.get(model) ?? null,
        after: will.prices.get(model) ?? null,
      }))
      .filter((price) => JSON.stringify(price.before) !== JSON.stringify(price.after)),
  };
}

function limitsOf({ rates }: AccountPlan): Record<string, number> {
  return {
    requests_per_minute: rates.requestsPerMinute,
    tokens_per_minute: rates.tokensPerMinute,
    running_tasks: rates.runningTasks,
    storage_bytes: rates.storageBytes,
  };
}
