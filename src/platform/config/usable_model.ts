import { ApiError } from "../../lib/api_error.ts";
import { definitionOf, MODEL_TYPES, modelWithArticle } from "../../model_types/model_types.ts";
import {
  type Config,
  isVisible,
  type Model,
  type ModelReader,
  type Route,
  statusAt,
} from "./config.ts";

/** The model, if this account may use it. One that it may not see does not exist for it. */
export function usableModel(config: Config, account: ModelReader, id: string): Model {
  const model = findModel(config, id);
  const isOffered = model !== undefined && isVisible(model, account) &&
    statusAt(model, Date.now()) !== "unavailable";
  if (!isOffered) {
    throw new ApiError(
      "model_unavailable",
      `The model ${
        JSON.stringify(id.slice(0, 128))
      } is not available. GET /v1/models lists the available models.`,
      { param: "model" },
    );
  }
  return model;
}

/** The model with this id or alias. */
export function findModel({ models, aliases }: Config, id: string): Model | undefined {
  return models.get(id) ?? models.get(aliases.get(id) ?? "");
}

/** The model, if this account may use it and the route serves its type. */
export function modelForRoute(
  config: Config,
  account: ModelReader,
  id: string,
  route: Pick<Route, "operation" | "type" | "path">,
): Model {
  const model = usableModel(config, account, id);
  const type = route.operation === "generation" ? route.type : typeServedBy(route.operation);
  if (model.type === type) return model;
  throw new ApiError(
    "capability_not_supported",
    `${model.id} is ${
      modelWithArticle(model.type)
    }, but ${route.path} accepts ${type} models only. ` +
      `GET /v1/models?type=${type} lists them.`,
    { param: "model" },
  );
}

function typeServedBy(operation: string): string | undefined {
  return MODEL_TYPES.find((type) => definitionOf(type).endpoint.operation === operation);
}
