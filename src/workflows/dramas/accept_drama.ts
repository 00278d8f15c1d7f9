import type { DramaRequest } from "../../../schemas/requests.ts";
import { mayUseQuota } from "../../domain/pricing/quota_models.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Model } from "../../platform/config/config.ts";
import { type GenerationCall, newTaskOf } from "../tasks/accept_generation.ts";
import type { CreatedTask } from "../tasks/create_task.ts";
import type { TaskDeps } from "../tasks/deps.ts";
import { hasEndpoint } from "../../domain/webhooks/endpoints.ts";
import { checkDrama } from "./check_drama.ts";
import { stagesUntil } from "../../model_types/drama.ts";
import type { DramaJob, StageStatus } from "./drama.ts";
import { pricesOf, type QuotedDrama, quoteDrama } from "./price_drama.ts";

/** Accepts a drama: checks it, holds its maximum price and stores it. */
export async function acceptDrama(
  deps: TaskDeps,
  call: GenerationCall,
  model: Model,
  body: DramaRequest,
): Promise<CreatedTask> {
  const { job, quote } = await quoteDramaRequest(deps, call, model, body);
  return await deps.creation.create({
    ...newTaskOf(call, model),
    job,
    quote,
    stages: stagesUntil(job.until).map((stage): StageStatus => ({
      stage,
      status: "waiting",
      progress: 0,
      outputs: [],
    })),
  });
}

/** The job and maximum price of a drama that can be accepted. Changes nothing. */
export async function quoteDramaRequest(
  deps: Pick<TaskDeps, "files" | "database">,
  { config, account, callbackUrl }: Pick<GenerationCall, "config" | "account" | "callbackUrl">,
  model: Model,
  body: DramaRequest,
): Promise<QuotedDrama & { job: DramaJob }> {
  const checked = await checkDrama(deps, account.id, model, body);
  const isLong = checked.until === "video";
  if (isLong && callbackUrl === null && !await hasEndpoint(deps.database.sql, account.id)) {
    throw new ApiError(
      "webhook_required",
      "A drama takes long: send callback_url, or set up a webhook endpoint first.",
      { param: "callback_url" },
    );
  }
  const { own, subtasks } = pricesOf(config, account, model, checked.until);
  const without_quota = Object.keys(subtasks).filter((id) =>
    !mayUseQuota(config, account.plan, config.models.get(id)!)
  );
  const job: DramaJob = { ...checked, prices: subtasks, without_quota };
  return { job, ...quoteDrama(config, model, own, job) };
}
