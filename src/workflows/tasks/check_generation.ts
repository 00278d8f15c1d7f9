import type { CheckedRequest, RequestFields } from "../../model_types/definition.ts";
import { definitionOf } from "../../model_types/model_types.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { Files } from "../../domain/files/files.ts";
import { checkUrl } from "../../platform/outbound/check_url.ts";

/** A request body that its schema let pass. */
export type GenerationBody = RequestFields & { readonly model: string };

/** A request and what it is checked against. */
export interface GenerationCheck {
  readonly files: Files;
  readonly config: Config;
  readonly account: string;
  readonly model: Model;
  readonly body: GenerationBody;
}

/** Checks a request by the rules of its model's type, and its files against their owner. */
export async function checkGeneration(
  { files, config, account, model, body }: GenerationCheck,
): Promise<CheckedRequest> {
  const definition = definitionOf(model.type);
  if (definition.work !== "media") throw new Error(`There is no generation of ${model.type}`);
  return await definition.check({
    model,
    body,
    findFile: (id) => files.find(account, id),
    checkUrl(url, param) {
      checkUrl(url, config.outbound, param, "A file id from POST /v1/files works too.");
    },
  });
}
