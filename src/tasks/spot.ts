import { Refusal } from "../base/refusal.ts";
import type { Model, Plan } from "../config/plan.ts";
import type { Spot } from "../upstream/media_calls.ts";
import type { ClaimedTask } from "./task.ts";

/** What says where a task is. */
export type Placed = Pick<ClaimedTask, "type" | "model" | "provider" | "upstream_model">;

/** Where a task is, in the declaration in force. A model may be gone; its provider must be there. */
export function spotOf(plan: Plan, task: Placed): Spot | null {
  const { provider: name, upstream_model } = task;
  const provider = name === null ? undefined : plan.providers.get(name);
  if (provider === undefined || name === null || upstream_model === null) return null;
  const model = plan.models.get(task.model);
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
  return { plan, model: model ?? bare, upstream };
}

export function modelGone(): Refusal {
  return new Refusal("model_unavailable", "The model is not offered any more.");
}
