import { isVisible } from "../../platform/config/config.ts";
import type { PricedAccount } from "../../domain/pricing/find_price.ts";
import type { SiteContext } from "../context.ts";
import { apiUrl } from "./address.ts";

/** A command that works as it stands, once a key is in the environment. */
export function firstCall(
  c: SiteContext,
  account: PricedAccount,
): { curl: string; model: string } | null {
  const { models } = c.env.config;
  const model = [...models.values()].find((each) =>
    each.type === "chat" && each.status !== "unavailable" && isVisible(each, account)
  );
  if (model === undefined) return null;
  const body = JSON.stringify({
    model: model.id,
    messages: [{ role: "user", content: "Hello!" }],
  });
  const curl = [
    `curl ${apiUrl(c)}/chat/completions \\`,
    '  -H "Authorization: Bearer $TOLLGATE_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${body}'`,
  ].join("\n");
  return { curl, model: model.id };
}
