import type { ApiError } from "../../lib/api_error.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { AttemptKind } from "../../upstream/admission.ts";
import type { MediaCalls } from "../../upstream/media_calls.ts";
import { modelUnavailable } from "../../upstream/model_unavailable.ts";
import { PATIENCE_MS } from "../tasks/submit_task.ts";

/** The error of a model whose upstreams cannot be called as soon as a waiting request needs; null: one can. */
export function unavailableSoon(
  media: Pick<MediaCalls, "choose">,
  config: Config,
  model: Model,
  attempt: AttemptKind,
): ApiError | null {
  const choice = media.choose(config, model, [], attempt);
  const waitMs = choice.upstream === null ? choice.retryAfterMs ?? 0 : 0;
  return waitMs > PATIENCE_MS ? modelUnavailable(model, waitMs / 1000) : null;
}
