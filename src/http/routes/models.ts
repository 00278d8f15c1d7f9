import { CAPABILITIES, MODEL_TYPES } from "../../model_types/model_types.ts";
import { MODEL_STATUSES } from "../../platform/config/config.ts";
import { listModels } from "../endpoints/list_models.ts";
import { listPrices } from "../endpoints/list_prices.ts";
import { retrieveModel } from "../endpoints/retrieve_model.ts";
import { choice, inPath, query } from "./parameters.ts";
import { json, operationRoute, type RouteArea } from "./route.ts";

export const modelRoutes: RouteArea = {
  title: "Models and prices",
  routes: [
    operationRoute({
      operation: "list_models",
      method: "GET",
      path: "/models",
      auth: "api_key",
      summary: "List the models that your account can use",
      parameters: [
        choice("type", "Only models of this type.", MODEL_TYPES),
        choice("capability", "Only models with this capability.", CAPABILITIES),
        choice(
          "status",
          "Only models with this status. Unavailable models are listed only with `unavailable`.",
          MODEL_STATUSES,
        ),
      ],
      responses: { 200: json("ModelList", "The models, in the order of the configuration.") },
      example: { query: { type: "chat" } },
      handler: listModels,
    }),
    operationRoute({
      operation: "retrieve_model",
      method: "GET",
      path: "/models/{model_id}",
      auth: "api_key",
      summary: "Retrieve a model and its limits",
      parameters: [inPath("model_id", "Id of the model.")],
      responses: { 200: json("ModelDetail", "The model.") },
      example: { path: { model_id: "sim-video" } },
      handler: retrieveModel,
    }),
    operationRoute({
      operation: "list_prices",
      method: "GET",
      path: "/pricing/models",
      auth: "api_key",
      summary: "List the prices that your account pays",
      parameters: [
        query(
          "at",
          "Prices at this time, also announced ones: a date with its offset, or Unix seconds. Default: now.",
        ),
      ],
      responses: { 200: json("PriceList", "One price for each model.") },
      example: {},
      handler: listPrices,
    }),
  ],
};
