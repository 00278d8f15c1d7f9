import { compilePipeline } from "./compile_pipeline.ts";
import type { ModelEntry, UpstreamEntry } from "./gateway_file.ts";
import { noticeOf } from "./notice.ts";
import { SCHEMAS } from "./schema.ts";
import { toSettings } from "./settings.ts";
import { termsOf } from "../../model_types/price_terms.ts";
import type { ModelLimits } from "../../model_types/definition.ts";
import type { Model, Provider, Upstream, Visibility } from "./config.ts";

/** What a model needs from the rest of the file. */
export interface ModelContext {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly entries: ReadonlyMap<string, ModelEntry>;
  /** The name of the service. */
  readonly owner: string;
  /** When the model's first price took effect, in Unix seconds. */
  pricedSince(id: string): number;
}

/** One model: the JSON that clients see, and the private part. */
export function compileModel(
  model: ModelEntry,
  { providers, entries, owner, pricedSince }: ModelContext,
): Model {
  const { capabilities, limits: _, upstreams = [], ...rest } = model;
  const limits = (model.limits ?? {}) as ModelLimits;
  // Clients see these keys in this order. Private fields must not be added here.
  const published = {
    id: model.id,
    object: "model",
    name: model.name,
    type: model.type,
    logo: model.logo ?? "",
    description: model.description,
    advantages: model.advantages,
    scenarios: model.scenarios,
    status: model.status,
    capabilities,
    ...(model.aliases.length === 0 ? {} : { aliases: model.aliases }),
    created: pricedSince(model.id),
    owned_by: owner,
  };
  return {
    ...toSettings(SCHEMAS.model, rest),
    capabilities: new Set(capabilities),
    limits,
    upstreams: upstreams.filter((upstream) => providers.get(upstream.provider)!.on)
      .map((upstream) => upstreamOf(model, upstream, providers.get(upstream.provider)!))
      .sort((a, b) => a.priority - b.priority),
    visibility: visibilityOf(model.visible_to),
    pipeline: model.chain === undefined ? null : compilePipeline(model.chain, entries),
    listJson: JSON.stringify(published),
    detailJson: JSON.stringify({ ...published, limits }),
    endsAt: model.sunset_at === undefined ? Infinity : Date.parse(model.sunset_at),
    notice: model.status === "deprecated" ? noticeOf(model.deprecated_at, model.sunset_at) : null,
  };
}

function upstreamOf(
  model: ModelEntry,
  upstream: UpstreamEntry,
  provider: Provider,
): Upstream {
  return {
    ...toSettings(SCHEMAS.upstream, upstream),
    model: upstream.model ?? model.id,
    timeoutSeconds: upstream.timeout_seconds ?? provider.timeoutSeconds,
    cost: upstream.cost === undefined
      ? null
      : { ...termsOf(upstream.cost), unit: upstream.cost.unit },
    extraBody: upstream.extra_body,
  };
}

function visibilityOf(visible: ModelEntry["visible_to"]): Visibility {
  if (visible === undefined) return "everyone";
  return { plans: new Set(visible.plans ?? []), accounts: new Set(visible.accounts ?? []) };
}
