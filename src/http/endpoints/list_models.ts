import { CAPABILITIES, MODEL_TYPES } from "../../model_types/model_types.ts";
import { isVisible, MODEL_STATUSES } from "../../platform/config/config.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";
import { readChoice } from "../read_choice.ts";

/** GET /v1/models: the models that this account may see, in the order of the configuration. */
export function listModels(): Endpoint {
  return function listModels(c) {
    const { config } = c.env;
    const account = accountOf(c);
    const type = readChoice(c, "type", MODEL_TYPES);
    const capability = readChoice(c, "capability", CAPABILITIES);
    const status = readChoice(c, "status", MODEL_STATUSES);
    const models: string[] = [];
    for (const model of config.models.values()) {
      if (type !== undefined && model.type !== type) continue;
      if (capability !== undefined && !model.capabilities.has(capability)) continue;
      // Unavailable models are listed only with ?status=unavailable.
      if (status === undefined ? model.status === "unavailable" : model.status !== status) continue;
      if (isVisible(model, account)) models.push(model.listJson);
    }
    return sendJson(`{"object":"list","data":[${models.join(",")}]}`);
  };
}
