import { type PricedAccount, requirePrice } from "../../domain/pricing/find_price.ts";
import { countTokens } from "../../lib/count_tokens.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { promptText } from "./meter.ts";
import { prepareChat } from "./prepare_chat.ts";

export interface CountedChat {
  readonly config: Config;
  readonly account: PricedAccount;
  readonly model: Model;
  readonly request: ChatRequest;
}

/** An estimate of a request's input tokens, by our tokenizer. Checks the request as a chat would, and sends nothing. */
export async function countPrompt(
  upstreams: Upstreams,
  { config, account, model, request }: CountedChat,
): Promise<number> {
  const price = requirePrice(config, account, model.id);
  const prepared = prepareChat({ upstreams, config, model, price }, request);
  const [first] = model.upstreams;
  const images = first === undefined ? 0 : prepared.imageTokensAt(first);
  return await countTokens(promptText(prepared.request)) + images;
}
