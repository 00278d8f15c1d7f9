import { isModelType } from "../../model_types/model_types.ts";
import type { Config } from "../../platform/config/config.ts";
import { apiKeyVariable } from "../api_key_variable.ts";
import { type DocumentedCall, type OpenApi, resolve, type Schema } from "./document.ts";
import { exampleModel } from "./sample_values.ts";

/** Sample values for fields of these names; all others are made from the schema. */
const TEXTS: Readonly<Record<string, string>> = {
  prompt: "a lighthouse at dusk, waves against the rocks",
  input: "The gate is open.",
  voice: "alloy",
  title: "The Gate",
  name: "first",
  url: "https://example.com/webhooks",
  email: "ann@example.com",
  reference: "invoice-17",
  amount: "10.00",
  plan: "pro",
  path: "/v1/chat/completions",
};

/** An operation of the API as a curl command. */
export function sampleCurl(
  document: OpenApi,
  config: Config,
  base: string,
  call: DocumentedCall,
): string {
  const site = base.replace(/\/v1$/, "");
  const secret = call.tags.includes("operator")
    ? "ADMIN_TOKEN"
    : apiKeyVariable(config.service.name);
  const lines = [
    `curl ${call.method === "get" ? "" : `-X ${call.method.toUpperCase()} `}"${site}${call.path}"`,
    `-H "Authorization: Bearer $${secret}"`,
  ];
  const content = call.requestBody?.content ?? {};
  if ("multipart/form-data" in content) {
    lines.push("-F purpose=generation", "-F file=@portrait.png");
  } else if (content["application/json"] !== undefined) {
    const body = sampleOf(
      document,
      content["application/json"].schema ?? {},
      modelFor(config, call),
      "",
    );
    lines.push(
      `-H "Content-Type: application/json"`,
      `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''").replaceAll("\n", "\n  ")}'`,
    );
  }
  return lines.join(" \\\n  ");
}

/** A model that the operation can be called with, so that a reader can paste the sample. */
function modelFor(config: Config, call: DocumentedCall): string {
  const route = config.routes.find(({ path }) => `/v1${path}` === call.path);
  const type = route?.type ?? route?.operation;
  // A quote is for a request of another endpoint: see `body` below.
  const wanted = isModelType(type) ? type : "chat";
  return exampleModel(config, wanted, { id: "", plan: "free" }) ?? "model-id";
}

/** A value that a schema accepts, with its required fields only. */
function sampleOf(document: OpenApi, schema: Schema, model: string, name: string): unknown {
  const whole = resolve(document, schema);
  if (name === "model") return model;
  if (name === "messages") return [{ role: "user", content: "Hello!" }];
  if (name === "body") return { model, messages: [{ role: "user", content: "Hello!" }] };
  if (whole.examples?.[0] !== undefined) return whole.examples[0];
  if (whole.const !== undefined) return whole.const;
  if (whole.enum !== undefined) return whole.enum[0];
  if (whole.default !== undefined) return whole.default;
  const [choice] = whole.anyOf ?? whole.oneOf ?? [];
  if (whole.type === undefined && choice !== undefined) {
    return sampleOf(document, choice, model, name);
  }
  const type = Array.isArray(whole.type) ? whole.type[0] : whole.type;
  if (type === "object" || whole.properties !== undefined) {
    const { required = [], properties = {} } = whole;
    return Object.fromEntries(
      required.map((each) => [each, sampleOf(document, properties[each] ?? {}, model, each)]),
    );
  }
  if (type === "array") {
    return [sampleOf(document, whole.items ?? {}, model, name.replace(/s$/, ""))];
  }
  if (type === "integer" || type === "number") return whole.minimum ?? 1;
  if (type === "boolean") return true;
  return TEXTS[name] ?? (name.endsWith("file_id") ? "file_01k…" : "…");
}
