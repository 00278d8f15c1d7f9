import { maxChatUsage } from "../../model_types/chat.ts";
import {
  addFractions,
  formatDecimal,
  type Fraction,
  fraction,
  roundHalfUp,
  roundUp,
  SCALE,
} from "../../lib/money.ts";
import type { Config, Model, Price } from "../../platform/config/config.ts";
import { type PricedAccount, priceFor } from "../../domain/pricing/find_price.ts";
import { priceOf } from "../../domain/pricing/price.ts";
import { type Charge, type Quote, quoteUsage } from "../../domain/pricing/quote.ts";
import { priceFrom, type PriceSnapshot, snapshotOf } from "../../domain/pricing/snapshot.ts";
import type { Usage, UsageItem } from "../../model_types/usage.ts";
import { ApiError } from "../../lib/api_error.ts";
import {
  type DramaStage,
  dramaUsage,
  type MadeUnits,
  maxDramaUsage,
  stagesUntil,
} from "../../model_types/drama.ts";
import { imageUsage } from "../../model_types/image.ts";
import { videoUsage } from "../../model_types/video.ts";
import type { ReceiptPart } from "../tasks/task_writes.ts";
import { type DramaJob, requireStage } from "./drama.ts";
import { quotaShares } from "./quota_shares.ts";
import { maxLine } from "./shot_price.ts";
import { imageParameters, textPrompt, videoParameters } from "./shots.ts";
import { stageSchema } from "./texts.ts";
import { textRequest } from "./write_text.ts";

/** A subtask that an upstream charges for: the model that made it, and its usage. */
export interface PricedSubtask {
  readonly stage: DramaStage;
  readonly shot: number | null;
  readonly model: string;
  readonly usage: Usage;
  /** provider/model that made it, and what it charges; null where that is not known. */
  readonly upstream: string | null;
  readonly cost: string | null;
}

/** Prices of the drama itself and of every model that its pipeline uses up to a stage. */
export function pricesOf(
  config: Config,
  account: PricedAccount,
  model: Model,
  until: DramaStage,
): { own: Price; subtasks: Record<string, PriceSnapshot> } {
  const now = Date.now();
  const find = (id: string) => {
    const price = priceFor(config, account, id, now);
    if (price !== null) return price;
    throw new ApiError("model_unavailable", `The model "${model.id}" has no price.`, {
      param: "model",
    });
  };
  const { pipeline } = model;
  if (pipeline === null) throw new Error(`${model.id} has no pipeline`);
  const used = stagesUntil(until).flatMap((stage) => {
    if (stage === "script") return [pipeline.script.model];
    const offered = requireStage<{ model: string }>(pipeline[stage], stage);
    const isSpoken = stage === "video" && pipeline.video.offered && pipeline.video.speech.offered;
    return isSpoken ? [offered.model, pipeline.video.speech.model] : [offered.model];
  });
  return {
    own: find(model.id),
    subtasks: Object.fromEntries(used.map((id) => [id, snapshotOf(find(id))])),
  };
}

/** A script's output tokens may become up to this many input tokens of the next stage each. */
const RETOKENIZED = 2;

/** The maximum price of a drama: every shot made, every text as long as its limit. */
export function quoteDrama(
  config: Config,
  model: Model,
  own: Price,
  job: DramaJob,
): QuotedDrama {
  const shots = job.given.script?.scenes.length ?? job.shots_max;
  const subtasks = [...maxTexts(config, job), ...maxShots(job, shots)]
    .map(({ stage, model: id, usage }) => {
      const price = priceFrom(job.prices[id]!);
      const { amount } = quoteUsage(config.models.get(id)!, price, usage);
      return { stage, model: id, usage, amount };
    });
  const { video } = job.pipeline;
  const maxUsage = maxDramaUsage(job.until, {
    shots,
    shotSeconds: video.offered ? video.duration : 0,
  });
  const fee = quoteUsage(model, own, maxUsage);
  const all = [...subtasks, { stage: "drama", model: model.id, amount: fee.amount }];
  return {
    maxUsage,
    quote: {
      ...fee,
      amount: all.map(({ amount }) => amount).reduce(addFractions),
      shares: quotaShares(subtasks, job),
    },
    parts: quotedParts(all, config.service.currencyScale),
  };
}

export interface QuotedDrama {
  readonly maxUsage: Usage;
  readonly quote: Quote;
  readonly parts: readonly QuotedPart[];
}

/** What a drama is charged for: the model of a stage, or the fee of the drama itself. */
export interface QuotedPart {
  readonly stage: string;
  readonly model: string;
  /** How many times the model is used at most. */
  readonly count: number;
  /** The maximum price of all of them. */
  readonly amount: string;
}

function quotedParts(
  subtasks: readonly { stage: string; model: string; amount: Fraction }[],
  scale: number,
): QuotedPart[] {
  const byStage = Map.groupBy(subtasks, ({ stage, model }) => `${stage} ${model}`);
  return [...byStage.values()].map((same) => ({
    stage: same[0]!.stage,
    model: same[0]!.model,
    count: same.length,
    amount: formatDecimal(roundUp(same.map(({ amount }) => amount).reduce(addFractions), scale)),
  }));
}

interface StageUsage {
  readonly stage: DramaStage | "speech";
  readonly model: string;
  readonly usage: Usage;
}

/** Maximum usage of the texts that are not given. */
function maxTexts(config: Config, job: DramaJob): StageUsage[] {
  const { pipeline, given } = job;
  const text = (stage: "script" | "roles", prompt: string, moreTokens = 0): StageUsage => {
    const { model: id, maxOutputTokens } = stage === "script"
      ? pipeline.script
      : requireStage(pipeline.roles, stage);
    const schema = stageSchema(job, stage);
    const model = config.models.get(id)!;
    const request = textRequest(
      { stage, prompt, schema, max_output_tokens: maxOutputTokens },
      id,
      model.capabilities.has("json_schema"),
    );
    const usage = maxChatUsage(model, request);
    const input_tokens = (usage.input_tokens ?? 0) + moreTokens;
    return { stage, model: id, usage: { ...usage, input_tokens } };
  };
  const texts: StageUsage[] = [];
  if (given.script === undefined) {
    texts.push(text("script", textPrompt(job, pipeline.script.prompt, null)));
  }
  if (stagesUntil(job.until).includes("roles") && given.roles === undefined) {
    const { prompt } = requireStage(pipeline.roles, "roles");
    const scriptTokens = given.script === undefined
      ? pipeline.script.maxOutputTokens * RETOKENIZED
      : 0;
    texts.push(text("roles", textPrompt(job, prompt, given.script ?? null), scriptTokens));
  }
  return texts;
}

/** Maximum usage of the images, videos and spoken lines that are not given. */
function maxShots(job: DramaJob, shots: number): StageUsage[] {
  const { pipeline, given, until } = job;
  const wanted = new Set(stagesUntil(until));
  const usages: StageUsage[] = [];
  for (let shot = 1; shot <= shots; shot++) {
    if (wanted.has("storyboard") && given.images?.[shot] === undefined) {
      const { model, size } = requireStage(pipeline.storyboard, "storyboard");
      const usage = imageUsage(1, imageParameters(size));
      usages.push({ stage: "storyboard", model, usage });
    }
    if (!wanted.has("video")) continue;
    const video = requireStage(pipeline.video, "video");
    if (given.videos?.[shot] === undefined) {
      const usage = videoUsage(video.duration, videoParameters(video.duration, job.aspect_ratio));
      usages.push({ stage: "video", model: video.model, usage });
    }
    if (video.speech.offered && given.lines?.[shot] === undefined) {
      usages.push({
        stage: "speech",
        model: video.speech.model,
        usage: maxLine(priceFrom(job.prices[video.speech.model]!), video.speech),
      });
    }
  }
  return usages;
}

/** The charge of a drama, and each part of it with what it cost. */
export interface DramaCharge {
  readonly charge: Charge;
  readonly parts: readonly ReceiptPart[];
}

/** The charge of a drama: its subtasks at the prices it was accepted at, and its own price on top. */
export function chargeDrama(
  job: DramaJob,
  { own, subtasks, unpaid, made, scale }: {
    own: Price;
    subtasks: readonly PricedSubtask[];
    /** Attempts that cost something and are not charged. */
    unpaid: readonly PricedSubtask[];
    made: MadeUnits;
    /** Of the currency: its decimals. */
    scale: number;
  },
): DramaCharge {
  const total = dramaUsage(made, subtasks.length);
  const lines = [
    ...subtasks.map(({ stage, shot, model, usage, upstream, cost }) => ({
      item: { stage, ...(shot === null ? {} : { shot }), model, usage },
      amount: priceOf(priceFrom(job.prices[model]!), usage),
      ...{ upstream, cost },
    })),
    {
      item: { stage: "drama", model: own.model, usage: total },
      amount: priceOf(own, total),
      // The fee is for the gateway's own work.
      ...{ upstream: null, cost: "0" },
    },
  ];
  const amount = lines.map((line) => line.amount).reduce(addFractions);
  const amounts = apportion(lines.map((line) => line.amount), amount, scale)
    .map((share) => formatDecimal(share));
  const items: UsageItem[] = lines.map(({ item }, at) => ({ ...item, amount: amounts[at]! }));
  return {
    charge: {
      amount,
      units: 0n,
      shares: quotaShares(
        lines.slice(0, -1).map(({ item, amount }) => ({ ...item, amount })),
        job,
      ),
      usage: { ...total, items },
      served: { upstream: null, cost: sumOfCosts([...lines, ...unpaid].map(({ cost }) => cost)) },
    },
    parts: [
      ...lines.map(({ item: { stage, model }, upstream, cost }, at) => ({
        ...{ stage, model, upstream, cost },
        amount: amounts[at]!,
      })),
      ...unpaid.map(({ stage, model, upstream, cost }) => ({
        ...{ stage, model, upstream, cost },
        amount: "0",
      })),
    ],
  };
}

/** Not known where one of them is not. */
function sumOfCosts(costs: readonly (string | null)[]): Fraction | null {
  const known = costs.filter((cost) => cost !== null);
  return known.length < costs.length ? null : known.map(fraction).reduce(addFractions);
}

/**
 * Amounts at the currency's scale that add up exactly to the rounded sum: each is rounded down, and the remaining
 * units go to the amounts that lost most.
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
