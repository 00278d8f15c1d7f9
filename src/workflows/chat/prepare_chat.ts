import { ApiError } from "../../lib/api_error.ts";
import { isGiven } from "../../lib/given.ts";
import type { Config, Model, Price, Upstream } from "../../platform/config/config.ts";
import type { Usage } from "../../model_types/usage.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { WrittenChat } from "../../upstream/call_chat.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { ImageLink } from "../../platform/outbound/public_hosts.ts";
import { type ChatExtras, checkExtras } from "./check_extras.ts";
import { checkRequest } from "./check_request.ts";
import { conversationPin } from "./conversation_pin.ts";
import { cleanRequest } from "./clean_request.ts";
import { type ChatImage, imagesOf } from "./images.ts";
import {
  askedLimit,
  type ImageBound,
  imageBound,
  inputBound,
  limitBeside,
  outputBound,
  outputLimit,
} from "../../model_types/chat.ts";

/** The likely token count of an image without a known rule. */
const IMAGE_TOKENS_USUAL = 1600;

/** A model, the price of its requests, and what calls it. */
export interface PricedModel {
  readonly upstreams: Upstreams;
  readonly config: Config;
  readonly model: Model;
  readonly price: Price;
}

/** A chat request that was checked and written for every upstream that supports it. */
export interface PreparedChat {
  readonly request: ChatRequest;
  /** Images that an upstream will fetch, whose hosts are still to be checked; null: none. */
  readonly linkedImages: readonly ImageLink[] | null;
  /** The usage that is held. */
  readonly maxUsage: Usage;
  /** What the request may cost beyond its base price. */
  readonly extras: ChatExtras;
  /** The images' part of `maxUsage`; null where there are none. */
  readonly images: ImageBound | null;
  /** The output limit of each answer, and whether the client set it. */
  readonly limit: number;
  readonly hasOwnLimit: boolean;
  /** Leads the requests of a conversation to the same upstream. */
  readonly pin: number | null;
  /** The usage that would be held with another limit. */
  maxUsageAt(limit: number): Usage;
  /** The same request with a lower limit. */
  limitedTo(limit: number): PreparedChat;
  /** The request for an upstream; throws the `ApiError` of one that does not support it. */
  requestFor(upstream: Upstream): WrittenChat;
  /** A likely token count of the images at an upstream, for answers without usage. */
  imageTokensAt(upstream: Upstream): number;
}

/** Searches that one answer may take. */
const SEARCHES_MAX = 5;

/**
 * Checks a request and writes it for every upstream before money is held: the hold must cover what is really
 * sent, after translation, to the most expensive upstream.
 */
export function prepareChat(priced: PricedModel, asked: ChatRequest): PreparedChat {
  const { config, model, price } = priced;
  const linked = checkRequest(model, asked, config.outbound);
  const extras = checkExtras(price.terms, asked);
  const hasOwnLimit = isGiven(askedLimit(asked));
  const checked: CheckedChat = {
    asked,
    extras,
    hasOwnLimit,
    pin: conversationPin(model, price.terms, asked),
    images: imagesOf(asked),
    linkedImages: config.outbound.allowPrivate ? null : linked,
  };
  const limit = outputLimit(model, asked);
  const prepared = prepareWithLimit(priced, checked, limit);
  // A limit that was lowered is the model's, not the client's.
  if (hasOwnLimit && limit === askedLimit(asked)) return prepared;
  const fitting = limitBeside(model, limit, prepared.maxUsage.input_tokens ?? 0);
  return fitting < limit ? prepared.limitedTo(fitting) : prepared;
}

interface CheckedChat
  extends Pick<PreparedChat, "extras" | "hasOwnLimit" | "linkedImages" | "pin"> {
  readonly asked: ChatRequest;
  readonly images: readonly ChatImage[];
}

function prepareWithLimit(priced: PricedModel, checked: CheckedChat, limit: number): PreparedChat {
  const { upstreams, config, model } = priced;
  const { asked, images, ...kept } = checked;
  const request = withOutputLimit(model, asked, limit, kept.extras);
  const { requests, inputTokensMax, images: imageBound } = writeForUpstreams(
    priced,
    request,
    images,
  );
  const answers = typeof request.n === "number" ? request.n : 1;
  const maxUsageAt = (limit: number): Usage => ({
    input_tokens: inputTokensMax,
    output_tokens: outputBound(limit, request),
    calls: 1,
    ...(kept.extras.webSearch ? { web_searches: SEARCHES_MAX * answers } : {}),
  });
  return {
    ...kept,
    request,
    limit,
    images: imageBound,
    maxUsage: maxUsageAt(limit),
    maxUsageAt,
    limitedTo: (lower) => prepareWithLimit(priced, checked, lower),
    requestFor(upstream) {
      const found = requests.get(upstream)!;
      if (found instanceof ApiError) throw found;
      return { ...found, original: asked };
    },
    imageTokensAt: (upstream) =>
      images.reduce(
        (sum, image) =>
          sum + (upstreams.imageTokens(config, upstream, image) ?? IMAGE_TOKENS_USUAL),
        0,
      ),
  };
}

/** The request for upstreams, with one output limit under one name. */
function withOutputLimit(
  model: Model,
  request: ChatRequest,
  limit: number,
  extras: ChatExtras,
): ChatRequest {
  const { max_tokens: _, ...rest } = cleanRequest(request, extras);
  // What "auto" means is up to a provider's own settings, and may cost more.
  if (rest.service_tier === "auto") delete (rest as { service_tier?: unknown }).service_tier;
  // "none" means nothing to a model without reasoning.
  if (rest.reasoning_effort === "none" && !model.capabilities.has("reasoning")) {
    delete (rest as { reasoning_effort?: unknown }).reasoning_effort;
  }
  return { ...rest, max_completion_tokens: limit } as ChatRequest;
}

interface Written {
  readonly requests: ReadonlyMap<Upstream, WrittenChat | ApiError>;
  readonly inputTokensMax: number;
  /** Of the upstream with the maximum. */
  readonly images: ImageBound | null;
}

/** Throws where no upstream supports the request. */
function writeForUpstreams(
  { upstreams, config, model }: PricedModel,
  request: ChatRequest,
  images: readonly ChatImage[],
): Written {
  const requests = new Map<Upstream, WrittenChat | ApiError>();
  let inputTokensMax = 0;
  let imagesMax: ImageBound | null = null;
  let firstError: ApiError | null = null;
  for (const upstream of model.upstreams) {
    try {
      const written = upstreams.write(config, model, upstream, request);
      const sent = {
        model,
        request,
        body: written.request.body ?? "",
        images,
        countImage: (image: ChatImage) => upstreams.imageTokens(config, upstream, image),
      };
      const bound = inputBound(sent);
      if (bound > inputTokensMax) {
        inputTokensMax = bound;
        imagesMax = imageBound(sent);
      }
      requests.set(upstream, written);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      firstError ??= error;
      requests.set(upstream, error);
    }
  }
  if (firstError !== null && [...requests.values()].every((one) => one instanceof ApiError)) {
    throw firstError;
  }
  return { requests, inputTokensMax, images: imagesMax };
}
