import type { Config, Model } from "../../platform/config/config.ts";
import { routeOf } from "../console/catalogue.ts";
import { bodyOf, FORMS } from "../console/playground/forms.ts";
import type { ExampleRequest, ModelConnection } from "./client.ts";

/** How clients reach a model at a base URL; null where no endpoint for its type is released. */
export function connectionTo(
  config: Config,
  model: Model,
  { baseUrl, key = null }: { baseUrl: string; key?: string | null },
): ModelConnection | null {
  const example = exampleRequest(config, model);
  if (example === null) return null;
  const released = config.routes.filter(({ stage }) => stage !== "planned");
  const { id, name, type, capabilities, limits } = model;
  return {
    service: config.service.name,
    baseUrl,
    paths: new Set(released.map(({ path }) => path)),
    key,
    model: { id, name, type, capabilities, limits, example },
  };
}

/** A request that the API accepts, from the model's own limits. */
function exampleRequest(config: Config, model: Model): ExampleRequest | null {
  const path = routeOf(config, model.type);
  if (path === null) return null;
  const first = (name: string) => {
    const values = model.limits[name];
    return Array.isArray(values) ? String(values[0]) : "";
  };
  const form = FORMS[model.type];
  return {
    path,
    body: bodyOf(model, form.example(first)),
    output: form.result === "file" ? `${model.type}.${first("formats")}` : null,
  };
}
