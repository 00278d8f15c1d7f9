import { addFractions, formatDecimal, type Fraction, roundUp } from "../../lib/money.ts";
import { type PricedAccount, priceFor } from "../../domain/pricing/find_price.ts";
import { greater, priceOf } from "../../domain/pricing/price.ts";
import { imageUsage } from "../../model_types/image.ts";
import { maxSpeechUsage } from "../../model_types/speech.ts";
import type { Usage } from "../../model_types/usage.ts";
import { videoUsage } from "../../model_types/video.ts";
import type { Config, Model, Price, SpeechStage } from "../../platform/config/config.ts";
import { imageParameters, speechParameters, videoParameters } from "./shots.ts";

/** The most that one shot of a drama costs in all, with its part of the fee; null for other models. */
export function maxShotPrice(
  config: Config,
  account: PricedAccount,
  { id, pipeline }: Model,
): string | null {
  if (pipeline === null) return null;
  const { storyboard, video } = pipeline;
  const find = (model: string) => priceFor(config, account, model, Date.now());
  const own = find(id);
  const amounts: (Fraction | null)[] = own?.unit === "shot" ? [priceOf(own, { shots: 1 })] : [];
  const add = (model: string, usage: (price: Price) => Usage) => {
    const price = find(model);
    amounts.push(price === null ? null : priceOf(price, usage(price)));
  };
  if (storyboard.offered) {
    const [size = null] = storyboard.sizes.values();
    add(storyboard.model, () => imageUsage(1, imageParameters(size)));
  }
  if (video.offered) {
    const { duration, speech } = video;
    add(video.model, () => videoUsage(duration, videoParameters(duration, null)));
    if (speech.offered) add(speech.model, (price) => maxLine(price, speech));
  }
  const known = amounts.filter((amount) => amount !== null);
  if (known.length === 0 || known.length < amounts.length) return null;
  return formatDecimal(roundUp(known.reduce(addFractions), config.service.currencyScale));
}

/** A spoken line in the voice that costs most. */
export function maxLine(price: Price, { voices, charactersMax }: SpeechStage): Usage {
  const usages = [...voices, undefined].map((voice) =>
    maxSpeechUsage(charactersMax, speechParameters(voice))
  );
  return usages.reduce((a, b) => {
    const [priceOfA, priceOfB] = [priceOf(price, a), priceOf(price, b)];
    return greater(priceOfA, priceOfB) === priceOfA ? a : b;
  });
}
