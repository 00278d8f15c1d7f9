import type { Config } from "../../platform/config/config.ts";
import { apiKeyVariable } from "../api_key_variable.ts";
import type { DocumentedCall } from "./document.ts";

/** An operation of the API as a curl command, with the example of the document. */
export function sampleCurl(config: Config, base: string, call: DocumentedCall): string {
  const site = base.replace(/\/v1$/, "");
  const verb = call.method === "get" ? "" : `-X ${call.method.toUpperCase()} `;
  const lines = [`curl ${verb}"${site}${urlOf(call)}"`];
  const secret = secretOf(config, call);
  if (secret !== null) lines.push(`-H "Authorization: Bearer $${secret}"`);
  const content = call.requestBody?.content ?? {};
  if ("multipart/form-data" in content) {
    lines.push("-F purpose=generation", "-F file=@portrait.png");
  } else if (content["application/json"] !== undefined) {
    const body = JSON.stringify(content["application/json"].example, null, 2);
    lines.push(
      `-H "Content-Type: application/json"`,
      `-d '${body.replaceAll("'", "'\\''").replaceAll("\n", "\n  ")}'`,
    );
  }
  return lines.join(" \\\n  ");
}

/** The environment variable with what authenticates the request; null where nothing has to. */
function secretOf(config: Config, { security }: DocumentedCall): string | null {
  const schemes = security.flatMap((each) => Object.keys(each));
  if (schemes.includes("admin_token")) return "ADMIN_TOKEN";
  return schemes.includes("api_key") ? apiKeyVariable(config.service.name) : null;
}

function urlOf({ path, parameters = [] }: DocumentedCall): string {
  const examples = parameters.filter(({ example }) => example !== undefined);
  const filled = examples.filter((parameter) => parameter.in === "path").reduce(
    (url, { name, example }) => url.replace(`{${name}}`, encodeURIComponent(example!)),
    path,
  );
  const query = examples.filter((parameter) => parameter.in === "query")
    .map(({ name, example }) => `${name}=${encodeURIComponent(example!)}`).join("&");
  return query === "" ? filled : `${filled}?${query}`;
}
