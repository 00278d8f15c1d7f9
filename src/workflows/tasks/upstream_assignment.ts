import { ApiError } from "../../lib/api_error.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { UpstreamAssignment } from "../../upstream/media_calls.ts";
import type { TaskDeps } from "./deps.ts";
import { failTask } from "./finish_task.ts";
import type { ClaimedRow } from "./task.ts";

/** What says where a task is. */
export type AssignedUpstream = Pick<ClaimedRow, "type" | "model" | "provider" | "upstream_model">;

/**
 * Where a task is, in the configuration it began under: there its provider still is, though it was removed
 * since. Null where it cannot be called any more.
 */
export async function findAssignedUpstream(
  deps: Pick<TaskDeps, "plan" | "currentPlan">,
  task: AssignedUpstream & { config_version: string },
): Promise<UpstreamAssignment | null> {
  const config = await deps.plan(task.config_version);
  if (task.provider === null || config.providers.get(task.provider)?.on !== false) {
    return spotOf(config, task);
  }
  // Its key is gone from the environment; the configuration in force may have another for the same provider.
  const current = deps.currentPlan();
  return current.providers.get(task.provider)?.on === true ? spotOf(current, task) : null;
}

/** The configuration that runs a model for a task: its own, unless the keys of the model's providers are gone. */
export async function configForTask(
  deps: Pick<TaskDeps, "plan" | "currentPlan">,
  declaration: string,
  model: string,
): Promise<Config> {
  const config = await deps.plan(declaration);
  return config.unavailableModels.some((each) => each.model === model)
    ? deps.currentPlan()
    : config;
}

/** Ends a task whose provider cannot be called any more; everything goes back. */
export async function failLost(deps: TaskDeps, task: ClaimedRow): Promise<"done"> {
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

/** Where a task is, in one configuration. The model may be gone from it; the provider must be there. */
function spotOf(config: Config, task: AssignedUpstream): UpstreamAssignment | null {
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
  return { config, model: model ?? bare, upstream };
}

export function modelGone(): ApiError {
  return new ApiError("model_unavailable", "The model is not offered any more.");
}
