import type { PricedAccount } from "../../domain/pricing/find_price.ts";
import { exampleModel } from "../../http/example_of.ts";
import type { SiteContext } from "../context.ts";
import { chatCurl } from "../curl_example.ts";

/** The first request of an account; null where no chat model is offered to it. */
export function firstRequest(
  c: SiteContext,
  account: PricedAccount,
): { curl: string; model: string } | null {
  const model = exampleModel(c.env.config, "chat", account);
  return model === undefined ? null : { curl: chatCurl(c, model.id), model: model.id };
}
