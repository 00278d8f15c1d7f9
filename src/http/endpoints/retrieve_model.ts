import { ApiError } from "../../lib/api_error.ts";
import { isVisible, type Model } from "../../platform/config/config.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";

/** GET /v1/models/{model_id}: the model with its limits. */
export function retrieveModel(): Endpoint {
  return function retrieveModel(c) {
    const model = usableModel(c, c.req.param("model_id") ?? "");
    return sendJson(model.detailJson, 200, noticeHeaders(model));
  };
}

/** The model, if this account may use it. One that it may not see does not exist for it. */
export function usableModel(c: HttpContext, id: string): Model {
  const model = c.env.config.models.get(id);
  if (model === undefined || !isVisible(model, accountOf(c)) || model.status === "unavailable") {
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

export function noticeHeaders(
  { notice }: Pick<Model, "notice">,
): Record<string, string> | undefined {
  if (notice === null) return undefined;
  return notice.sunset === null
    ? { deprecation: notice.deprecation }
    : { deprecation: notice.deprecation, sunset: notice.sunset };
}
