import type { Quote } from "../../domain/pricing/quote.ts";
import type { PreparedChat } from "./prepare_chat.ts";

/** How to make a request cheaper, for a client with too little balance, which covers this output limit. */
export function suggestCheaper(
  quoted: Quote,
  prepared: PreparedChat,
  fitting: number,
): string | undefined {
  if (quoted.price.billingType !== "token") return undefined;
  if (fitting > 0) return `The largest max_tokens that your balance covers is ${fitting}.`;
  const { images, maxUsage: { input_tokens = 0 } } = prepared;
  if (images === null || images.tokensMax * 2 <= input_tokens) {
    return "It does not cover the messages alone: shorter ones cost less.";
  }
  if (images.isKnown) return "Most of it is for images: fewer or smaller images cost less.";
  return `An image is counted as ${images.countedAs}, since its size in tokens is not known: ` +
    "use a model with a lower price, or leave the image out.";
}
