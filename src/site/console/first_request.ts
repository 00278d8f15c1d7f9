import type { PricedAccount } from "../../domain/pricing/find_price.ts";
import { isVisible, statusAt } from "../../platform/config/config.ts";
import type { SiteContext } from "../context.ts";
import { chatCurl } from "../curl_example.ts";

/** The first request of an account; null where no chat model is offered to it. */
export function firstRequest(
  c: SiteContext,
  account: PricedAccount,
): { curl: string; model: string } | null {
  const { models } = c.env.config;
  const now = Date.now();
  const model = [...models.values()].find((each) =>
    each.type === "chat" && statusAt(each, now) !== "unavailable" && isVisible(each, account)
  );
  return model === undefined ? null : { curl: chatCurl(c, model.id), model: model.id };
}
