import { apiKeyVariable } from "./api_key_variable.ts";
import { baseUrlOf } from "./base_url.ts";
import type { SiteContext } from "./context.ts";

/** A `curl` command that works as it stands, once the API key is in the environment. */
export function curlExample(
  c: SiteContext,
  path: string,
  body: unknown,
  output?: string,
): string {
  const lines = [
    `curl ${baseUrlOf(c)}${path}`,
    `  -H "Authorization: Bearer $${apiKeyVariable(c.env.config.service.name)}"`,
    '  -H "Content-Type: application/json"',
    `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ];
  if (output !== undefined) lines.push(`  -o ${output}`);
  return lines.join(" \\\n");
}

/** The first request that a newcomer sends. */
export function chatCurl(c: SiteContext, model: string): string {
  return curlExample(c, "/chat/completions", {
    model,
    messages: [{ role: "user", content: "Hello!" }],
  });
}
