import { baseUrlOf } from "./base_url.ts";
import { chatCommand } from "./clients/curl.ts";
import type { SiteContext } from "./context.ts";

/** The first request that a newcomer sends, as a `curl` command. */
export function chatCurl(c: SiteContext, model: string): string {
  return chatCommand({ service: c.env.config.service.name, baseUrl: baseUrlOf(c) }, model);
}
