import { maxTextUsage } from "../chat/token_bound.ts";
import { formatDecimal, type Fraction, roundHalfUp, SCALE } from "../../lib/money.ts";
import type { Config, Model, Price } from "../../platform/config/config.ts";
import { type PricedAccount, priceFor } from "../../domain/pricing/find_price.ts";
import { priceOf } from "../../domain/pricing/price.ts";
import { type Charge, type Quote, quoteUsage } from "../../domain/pricing/quote.ts";
import { priceFrom, type PriceSnapshot, snapshotOf } from "../../domain/pricing/snapshot.ts";
import type { Usage, UsageItem } from "../../domain/pricing/usage.ts";
import { maxUsage } from "../../domain/pricing/max_usage.ts";
import { ApiError } from "../../lib/api_error.ts";
import { type DramaJob, type DramaStage, stagesUntil } from "./drama.ts";
import { textPrompt } from "./shots.ts";
import { stageSchema } from "./texts.ts";
import { textRequest } from "./write_text.ts";

/** A part of a drama that is there: what made it, and how much of it. */
export interface PricedPart {
  readonly stage: DramaStage;
  readonly shot: number | null;
  readonly model: string;
  readonly usage: Usage;
}

/** What was made, counted for the drama's own price. */
export interface Made {
  readonly shots: number;
  readonly episodes: 0 | 1;
  readonly seconds: number;
}

/** Prices of every model that a chain uses up to a stage, and of the drama itself. */
export function pricesOf(
  config: Config,
  account: PricedAccount,
  model: Model,
  until: DramaStage,
): { own: Price; parts: Record<string, PriceSnapshot> } {
  const now = Date.now();
  const find = (id: string) => {
    const price = priceFor(config, account, id, now);
    if (price !== null) return price;
    throw new ApiError("model_unavailable", `The model "${model.id}" has no price.`, {
      param: "model",
    });
  };
  const { script, roles, storyboard, video } = model.pipeline!;
  const used = [script.model, roles?.model, storyboard?.model, video?.model, video?.speech?.model]
    .slice(0, stagesUntil(until).length + (until === "video" ? 1 : 0))
    .filter((id) => id !== undefined);
  return {
    own: find(model.id),
    parts: Object.fromEntries(used.map((id) => [id, snapshotOf(find(id))])),
  };
}

/** Words of a script count as tokens again in what is asked of the next stage. */
const RETOKENIZED = 2;

/** The most a drama can cost: every shot made, every text as long as it may be. */
export function quoteDrama(config: Config, model: Model, own: Price, job: DramaJob): Quote {
  const { chain, given, shots_max, until } = job;
  const wanted = new Set(stagesUntil(until));
  const shots = given.script?.scenes.length ?? shots_max;
  const most: [model: string, usage: Usage][] = [];
  const text = (stage: "script" | "roles", prompt: string, more = 0) => {
    const { model: id, maxOutputTokens } = chain[stage]!;
    const asked = {
      stage,
      prompt,
      schema: stageSchema(job, stage),
      max_output_tokens: maxOutputTokens,
    };
    const model = config.models.get(id)!;
    const request = textRequest(asked, id, model.capabilities.has("json_schema"));
    const usage = maxTextUsage(model, request);
    most.push([id, { ...usage, input_tokens: (usage.input_tokens ?? 0) + more }]);
  };
  const { script, roles, storyboard, video } = chain;
  if (given.script === undefined) {
    text("script", textPrompt(job, script.prompt, null));
  }
  if (wanted.has("roles") && given.roles === undefined) {
    const prompt = textPrompt(job, roles!.prompt, given.script ?? null);
    const scenes = given.script === undefined ? script.maxOutputTokens * RETOKENIZED : 0;
    text("roles", prompt, scenes);
  }
  for (let shot = 1; shot <= shots; shot++) {
    if (wanted.has("storyboard") && given.pictures?.[shot] === undefined) {
      most.push([storyboard!.model, { images: 1, calls: 1 }]);
    }
    if (!wanted.has("video")) continue;
    if (given.clips?.[shot] === undefined) {
      most.push([video!.model, { seconds: video!.duration, videos: 1, calls: 1 }]);
    }
    if (video!.speech !== null && given.lines?.[shot] === undefined) {
      const { model: id, charactersMax } = video!.speech;
      most.push([id, maxUsage(config.models.get(id)!, { input: "x".repeat(charactersMax) })]);
    }
  }
  const hasShots = wanted.has("storyboard");
  const fee = quoteUsage(model, own, {
    shots: hasShots ? shots : 0,
    episodes: wanted.has("video") ? 1 : 0,
    calls: 1,
    seconds: wanted.has("video") ? shots * video!.duration : 0,
  });
  const amounts = most.map(([id, usage]) => {
    const price = priceFrom(job.prices[id]!);
    return quoteUsage(config.models.get(id)!, price, usage).amount;
  });
  return { ...fee, kind: null, units: 0n, amount: [fee.amount, ...amounts].reduce(add) };
}

/** What a drama came to: its parts at the prices they were accepted at, and its own on top. */
export function chargeDrama(
  job: DramaJob,
  own: Price,
  parts: readonly PricedPart[],
  made: Made,
  scale: number,
): Charge {
  const total: Usage = { ...made, calls: parts.length > 0 ? 1 : 0 };
  const lines = [
    ...parts.map((part) => ({
      item: {
        stage: part.stage,
        ...(part.shot === null ? {} : { shot: part.shot }),
        model: part.model,
        usage: part.usage,
      },
      amount: priceOf(priceFrom(job.prices[part.model]!), part.usage),
    })),
    { item: { stage: "drama", model: own.model, usage: total }, amount: priceOf(own, total) },
  ];
  const amount = lines.map((line) => line.amount).reduce(add);
  const shares = apportion(lines.map((line) => line.amount), amount, scale);
  const items: UsageItem[] = lines.map(({ item }, at) => ({
    ...item,
    amount: formatDecimal(shares[at]!),
  }));
  return { amount, units: 0n, usage: { ...total, items } };
}

/**
 * Amounts at the currency's scale that add up to the rounded sum to the last digit: each is cut off, and
 * what is then missing goes to those that lost most.
 */
export function apportion(amounts: readonly Fraction[], sum: Fraction, scale: number): bigint[] {
  const unit = 10n ** BigInt(SCALE - scale);
  const shares = amounts.map(({ num, den }) => num * 10n ** BigInt(scale) / den);
  const lost = amounts.map(({ num, den }, at) => ({
    at,
    // Of a unit, in parts of 10¹⁸: exact enough to put them in order.
    part: (num * 10n ** BigInt(scale) - shares[at]! * den) * 10n ** 18n / den,
  })).sort((a, b) => a.part === b.part ? a.at - b.at : a.part > b.part ? -1 : 1);
  let missing = roundHalfUp(sum, scale) / unit - shares.reduce((a, b) => a + b, 0n);
  for (const { at } of lost) {
    if (missing <= 0n) break;
    shares[at]!++;
    missing--;
  }
  return shares.map((share) => share * unit);
}

/** Kept in lowest terms: dozens of parts would make very long denominators. */
function add(a: Fraction, b: Fraction): Fraction {
  const num = a.num * b.den + b.num * a.den;
  const den = a.den * b.den;
  const divisor = greatestCommonDivisor(num, den);
  return { num: num / divisor, den: den / divisor };
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? 1n : a;
}
