import { countTokens } from "../../lib/count_tokens.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { promptText } from "./meter.ts";
import { prepareChat } from "./prepare_chat.ts";

/** An estimate of a request's input tokens, by our tokenizer. Checks the request as a chat would, and sends nothing. */
export async function countPrompt(
  upstreams: Upstreams,
  config: Config,
  model: Model,
  request: ChatRequest,
): Promise<number> {
  const prepared = prepareChat(upstreams, config, model, request);
  const [first] = model.upstreams;
  const images = first === undefined ? 0 : prepared.imageTokensAt(first);
  return await countTokens(promptText(prepared.request)) + images;
}
