import { countTokens } from "../../lib/count_tokens.ts";
import { ApiError } from "../../lib/api_error.ts";
import {
  checkEmbeddings,
  type EmbeddingBody,
  type EmbeddingRequest,
  inputTooLong,
  isTexts,
  maxEmbeddingUsage,
  suspectText,
} from "../../model_types/embedding.ts";
import type { Usage } from "../../model_types/usage.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";

/** A checked request, and the most it can use. */
export interface PreparedEmbeddings {
  readonly request: EmbeddingRequest;
  readonly maxUsage: Usage;
}

/** Checks a request before money is held: against the limits of its model and what its upstreams take. */
export async function prepareEmbeddings(
  { upstreams, config, model }: { upstreams: Upstreams; config: Config; model: Model },
  body: EmbeddingBody,
): Promise<PreparedEmbeddings> {
  const request = checkEmbeddings(model, body);
  if (!isTexts(request.inputs) && !upstreams.takeTokens(config, model)) {
    throw new ApiError("capability_not_supported", `${model.id} takes texts, not tokens.`, {
      param: "input",
    });
  }
  const suspect = suspectText(model, request);
  if (suspect !== null && suspect.isTooLong(await countTokens(suspect.text))) {
    throw inputTooLong(model, suspect.param);
  }
  return { request, maxUsage: maxEmbeddingUsage(model, request) };
}
