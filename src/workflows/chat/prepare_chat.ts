import { ApiError } from "../../lib/api_error.ts";
import type { Config, Model, Upstream } from "../../platform/config/config.ts";
import type { Usage } from "../../model_types/usage.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { WrittenChat } from "../../upstream/call_chat.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { ImageLink } from "../../platform/outbound/public_hosts.ts";
import { checkRequest } from "./check_request.ts";
import { cleanRequest } from "./clean_request.ts";
import { type ChatImage, imagesOf } from "./images.ts";
import {
  type ImageBound,
  imageBound,
  inputBound,
  limitBeside,
  outputBound,
  outputLimit,
} from "../../model_types/chat.ts";

/** The likely token count of an image without a known rule. */
const IMAGE_TOKENS_USUAL = 1600;

/** A chat request that was checked and written for every upstream that supports it. */
export interface PreparedChat {
  readonly request: ChatRequest;
  /** Images that an upstream will fetch, whose hosts are still to be checked; null: none. */
  readonly linkedImages: readonly ImageLink[] | null;
  /** The usage that is held. */
  readonly maxUsage: Usage;
  /** The images' part of it; null where there are none. */
  readonly images: ImageBound | null;
  /** The request for an upstream; throws the `ApiError` of one that does not support it. */
  requestFor(upstream: Upstream): WrittenChat;
  /** A likely token count of the images at an upstream, for answers without usage. */
  imageTokensAt(upstream: Upstream): number;
}

/**
 * Checks a request and writes it for every upstream before money is held: the hold must cover what is really
 * sent, after translation, to the most expensive upstream.
 */
export function prepareChat(
  upstreams: Upstreams,
  config: Config,
  model: Model,
  asked: ChatRequest,
): PreparedChat {
  const linked = checkRequest(model, asked, config.outbound);
  const images = imagesOf(asked);
  const limit = outputLimit(model, asked);
  let request = withOutputLimit(model, asked, limit);
  let written = writeForUpstreams({ upstreams, config, model }, request, images);
  if (asked.max_completion_tokens === undefined && asked.max_tokens === undefined) {
    const fitting = limitBeside(model, limit, written.inputTokensMax);
    if (fitting < limit) {
      request = withOutputLimit(model, asked, fitting);
      written = writeForUpstreams({ upstreams, config, model }, request, images);
    }
  }
  const { requests, inputTokensMax } = written;
  return {
    request,
    linkedImages: config.outbound.allowPrivate ? null : linked,
    maxUsage: {
      input_tokens: inputTokensMax,
      output_tokens: outputBound(request.max_completion_tokens as number, request),
      calls: 1,
    },
    images: written.images,
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
function withOutputLimit(model: Model, request: ChatRequest, limit: number): ChatRequest {
  const { max_tokens: _, ...rest } = cleanRequest(request);
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
  { upstreams, config, model }: { upstreams: Upstreams; config: Config; model: Model },
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
