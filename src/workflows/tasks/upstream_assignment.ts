import { ApiError } from "../../lib/api_error.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { Span } from "../../platform/tracing/span.ts";
import type { UpstreamAssignment } from "../../upstream/media_calls.ts";
import type { TaskDeps } from "./deps.ts";
import { failTask } from "./finish_task.ts";
import type { ClaimedRow } from "./task.ts";

/** Columns that name the upstream of a task. */
export type AssignedUpstream =
  & Pick<ClaimedRow, "type" | "model" | "provider" | "upstream_model">
  & Partial<Pick<ClaimedRow, "id">>;

/**
 * The upstream of a task, from the configuration it was accepted under: that one still has the provider when it was
 * removed since. Null where the provider cannot be called any more.
 */
export async function findAssignedUpstream(
  deps: Pick<TaskDeps, "configOf" | "currentConfig" | "span">,
  task: AssignedUpstream & { config_version: string },
): Promise<UpstreamAssignment | null> {
  const span = deps.span ?? null;
  const config = await deps.configOf(task.config_version);
  if (task.provider === null || config.providers.get(task.provider)?.on !== false) {
    return assignmentIn(config, task, span);
  }
  // Its key was removed from the environment; the current configuration may have another for the same provider.
  const current = deps.currentConfig();
  const isOn = current.providers.get(task.provider)?.on === true;
  return isOn ? assignmentIn(current, task, span) : null;
}

/** The configuration a task was accepted under, or the current one if the keys of the model's providers were removed. */
export async function configForTask(
  deps: Pick<TaskDeps, "configOf" | "currentConfig">,
  version: string,
  model: string,
): Promise<Config> {
  const config = await deps.configOf(version);
  return config.unavailableModels.some((each) => each.model === model)
    ? deps.currentConfig()
    : config;
}

/** Fails a task whose provider cannot be called any more; its whole hold is released. */
export async function failUnreachable(deps: TaskDeps, task: ClaimedRow): Promise<"done"> {
  deps.log.error("task failed: no configuration with a key for its provider", {
    task_id: task.id,
    provider: task.provider,
    upstream_id: task.upstream_id,
    config_version: task.config_version,
  });
  return await failTask(
    deps,
    task,
    new ApiError(
      "model_unavailable",
      "The gateway can no longer reach the service that runs this task: send the request again, or choose another model.",
    ),
  );
}

/** The upstream of a task in one configuration, which must have the provider but may no longer have the model. */
function assignmentIn(
  config: Config,
  task: AssignedUpstream,
  span: Span | null,
): UpstreamAssignment | null {
  const { provider: name, upstream_model } = task;
  const provider = name === null ? undefined : config.providers.get(name);
  if (provider === undefined || name === null || upstream_model === null) return null;
  const model = config.models.get(task.model);
  const known = model?.upstreams.find((each) =>
    each.provider === name && each.model === upstream_model
  );
  const upstream = known ??
    {
      provider: name,
      model: upstream_model,
      priority: 0,
      weight: 1,
      timeoutSeconds: provider.timeoutSeconds,
      cost: null,
    };
  const bare = { id: task.model, type: task.type, limits: {} } as Model;
  return { config, model: model ?? bare, upstream, subject: { task_id: task.id }, span };
}

export function modelGone(): ApiError {
  return new ApiError("model_unavailable", "The model is not offered any more.");
}
