import { ApiError } from "../../lib/api_error.ts";
import { CAPABILITIES, MODEL_TYPES } from "../../model_types/model_types.ts";
import { isVisible, MODEL_STATUSES } from "../../platform/config/config.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";

const FILTERS = { type: MODEL_TYPES, capability: CAPABILITIES, status: MODEL_STATUSES } as const;

/** GET /v1/models: the models that this account may see, in the order of the configuration. */
export function listModels(): Endpoint {
  return function listModels(c) {
    const { config } = c.env;
    const account = accountOf(c);
    const type = filter(c, "type");
    const capability = filter(c, "capability");
    const status = filter(c, "status");
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

function filter(c: HttpContext, name: keyof typeof FILTERS): string | undefined {
  const value = c.req.query(name);
  if (value === undefined) return undefined;
  const allowed: readonly string[] = FILTERS[name];
  if (!allowed.includes(value)) {
    throw new ApiError("invalid_value", `${name} must be one of ${allowed.join(", ")}.`, {
      param: name,
    });
  }
  return value;
}
