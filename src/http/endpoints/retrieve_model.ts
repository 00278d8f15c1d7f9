import type { Model } from "../../platform/config/config.ts";
import { usableModel } from "../../platform/config/usable_model.ts";
import { withLogo } from "../model_logo.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";

/** GET /v1/models/{model_id}: the model with its limits. */
export function retrieveModel(): Endpoint {
  return function retrieveModel(c) {
    const model = usableModel(c.env.config, accountOf(c), c.req.param("model_id") ?? "");
    return sendJson(withLogo(c, model, model.detailJson), 200, noticeHeaders(model));
  };
}

export function noticeHeaders(
  { notice }: Pick<Model, "notice">,
): Record<string, string> | undefined {
  if (notice === null) return undefined;
  return notice.sunset === null
    ? { deprecation: notice.deprecation }
    : { deprecation: notice.deprecation, sunset: notice.sunset };
}
