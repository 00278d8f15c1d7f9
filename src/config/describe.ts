import type { Model, Plan, Price } from "./plan.ts";

/**
 * A plan as plain JSON, without secrets: what `/admin/v1/config` shows, what two plans are compared
 * by, and what the golden cases hold.
 */
export interface Description {
  version: string;
  [section: string]: unknown;
}

export function describe(plan: Plan): Description {
  return {
    version: plan.version,
    service: { ...plan.service },
    storage: plan.storage,
    requests: plan.requests,
    plans: Object.fromEntries([...plan.plans].map(([id, { id: _, ...rest }]) => [id, rest])),
    providers: Object.fromEntries([...plan.providers].map(([id, provider]) => [id, {
      adapter: provider.adapter,
      base_url: provider.baseUrl,
      has_key: provider.apiKey !== null && provider.apiKey !== "",
      headers: Object.keys(provider.headers),
      timeout_seconds: provider.timeoutSeconds,
      concurrency_max: provider.concurrencyMax,
      on: provider.on,
    }])),
    models: Object.fromEntries([...plan.models].map(([id, model]) => [id, describeModel(model)])),
    withheld: plan.withheld,
    prices: Object.fromEntries(
      [...plan.books].map(([id, book]) => [
        id,
        Object.fromEntries(
          [...book.prices].map(([model, prices]) => [model, prices.map(describePrice)]),
        ),
      ]),
    ),
    routes: Object.fromEntries(plan.routes.map(({ path, ...rest }) => [path, rest])),
    webhooks: plan.webhooks,
    outbound: plan.outbound,
    site: plan.site,
  };
}

function describeModel(model: Model): Record<string, unknown> {
  const { id: _id, object: _object, ...shown } = JSON.parse(model.detailJson);
  return {
    ...shown,
    upstreams: model.upstreams,
    visible_to: model.visibility === "everyone" ? "everyone" : {
      plans: [...model.visibility.plans],
      accounts: [...model.visibility.accounts],
    },
    on_disconnect: model.onDisconnect,
    ...(model.notice === null ? {} : { notice: model.notice }),
  };
}

function describePrice(price: Price): Record<string, unknown> {
  return {
    book: price.book,
    billing_type: price.billingType,
    unit: price.unit,
    ...price.amounts,
    effective_at: new Date(price.effectiveAt).toISOString(),
  };
}
