import { compilePipeline } from "./compile_pipeline.ts";
import type * as declared from "./gateway_file.ts";
import { noticeOf } from "./notice.ts";
import type { Model, ModelLimits, Provider, Upstream, Visibility } from "./config.ts";

/** One model: what clients see of it as finished JSON, and what stays private. */
export function compileModel(
  model: declared.Model,
  providers: ReadonlyMap<string, Provider>,
  declaredModels: ReadonlyMap<string, declared.Model>,
): Model {
  const status = model.status ?? "available";
  const limits = (model.limits ?? {}) as ModelLimits;
  // The order of keys is the order of the published model; nothing else may get in here.
  const shown = {
    id: model.id,
    object: "model",
    name: model.name,
    type: model.type,
    logo: model.logo ?? "",
    description: model.description ?? "",
    advantages: model.advantages ?? [],
    scenarios: model.scenarios ?? [],
    status,
    capabilities: model.capabilities,
  };
  return {
    id: model.id,
    type: model.type,
    status,
    capabilities: new Set(model.capabilities),
    limits,
    upstreams: (model.upstreams ?? []).filter((upstream) => providers.get(upstream.provider)!.on)
      .map((upstream) => upstreamOf(model, upstream, providers.get(upstream.provider)!))
      .sort((a, b) => a.priority - b.priority),
    visibility: visibilityOf(model.visible_to),
    onDisconnect: model.on_disconnect ?? "stop",
    pipeline: model.chain === undefined ? null : compilePipeline(model.chain, declaredModels),
    deadlineSeconds: model.deadline_seconds ?? 1800,
    listJson: JSON.stringify(shown),
    detailJson: JSON.stringify({ ...shown, limits }),
    notice: status === "deprecated" ? noticeOf(model.deprecated_at, model.sunset_at) : null,
  };
}

function upstreamOf(
  model: declared.Model,
  upstream: declared.Upstream,
  provider: Provider,
): Upstream {
  return {
    provider: upstream.provider,
    model: upstream.model ?? model.id,
    priority: upstream.priority ?? 0,
    weight: upstream.weight ?? 1,
    timeoutSeconds: upstream.timeout_seconds ?? provider.timeoutSeconds,
    cost: upstream.cost === undefined ? null : { ...upstream.cost },
    ...(upstream.extra_body === undefined ? {} : { extraBody: upstream.extra_body }),
  };
}

function visibilityOf(visible: declared.Model["visible_to"]): Visibility {
  if (visible === undefined) return "everyone";
  return { plans: new Set(visible.plans ?? []), accounts: new Set(visible.accounts ?? []) };
}
