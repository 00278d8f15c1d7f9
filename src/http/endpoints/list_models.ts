import { CAPABILITIES, MODEL_TYPES } from "../../model_types/model_types.ts";
import {
  isVisible,
  type Model,
  MODEL_STATUSES,
  type ModelStatus,
  statusAt,
} from "../../platform/config/config.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";
import { withLogo } from "../model_logo.ts";
import { readChoice } from "../read_choice.ts";

/** GET /v1/models: the models that this account may see, in the order of the configuration. */
export function listModels(): Endpoint {
  return function listModels(c) {
    const { config } = c.env;
    const account = accountOf(c);
    const type = readChoice(c, "type", MODEL_TYPES);
    const capability = readChoice(c, "capability", CAPABILITIES);
    const status = readChoice(c, "status", MODEL_STATUSES);
    const now = Date.now();
    const models: string[] = [];
    for (const model of config.models.values()) {
      if (type !== undefined && model.type !== type) continue;
      if (capability !== undefined && !model.capabilities.has(capability)) continue;
      // What is listed can be used: an unavailable model is 404 everywhere else.
      const current = statusAt(model, now);
      if (current === "unavailable" || status !== undefined && current !== status) continue;
      if (isVisible(model, account)) models.push(withLogo(c, model, listJsonOf(model, current)));
    }
    return sendJson(`{"object":"list","data":[${models.join(",")}]}`);
  };
}

function listJsonOf({ listJson, status }: Model, current: ModelStatus): string {
  return current === status
    ? listJson
    : JSON.stringify({ ...JSON.parse(listJson), status: current });
}
