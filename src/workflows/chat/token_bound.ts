import { Buffer } from "node:buffer";
import type { Model } from "../../platform/config/config.ts";
import type { Usage } from "../../domain/pricing/usage.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { ChatImage } from "./images.ts";

/** Output tokens of a model without a configured limit. */
const OUTPUT_TOKENS_DEFAULT = 4096;
/** Tokens left for the answer to a prompt that may fill the context. */
const OUTPUT_TOKENS_LEAST = 256;
/** Tokens that providers add around a prompt, and around tools or a schema. */
const FRAME_TOKENS = 64;
const TOOL_FRAME_TOKENS = 1024;
/** An image where neither the provider's rule nor the context is known: no published rule counts more. */
const IMAGE_TOKENS_UNKNOWN = 65_536;
/** Prompts have fewer tokens than half their bytes in any language; only a limit we choose ourselves relies on it. */
const BYTES_PER_TOKEN_LEAST = 2;

/** Tokens that an upstream counts for an image; null where unknown. */
export type CountImage = (image: ChatImage) => number | null;

/** A request in the format of one upstream. */
export interface SentRequest {
  readonly model: Model;
  readonly request: ChatRequest;
  /** The body that is sent. */
  readonly body: string;
  readonly images: readonly ChatImage[];
  readonly countImage: CountImage;
}

/**
 * The maximum input tokens of a request as sent. No tokenizer makes more tokens than there are bytes, so the
 * bytes of the body are an upper bound for everything in it. Images are not text: their bytes are replaced by
 * the provider's count.
 */
export function inputBound({ model, request, body, images, countImage }: SentRequest): number {
  const context = contextOf(model);
  // Search results are added to the prompt, whatever their length.
  if (isSaid(request.web_search_options) && context !== undefined) return context;
  let tokens = Buffer.byteLength(body) + FRAME_TOKENS;
  if (hasTools(request)) tokens += TOOL_FRAME_TOKENS;
  for (const image of images) {
    tokens += (countImage(image) ?? context ?? IMAGE_TOKENS_UNKNOWN) - image.base64Length;
  }
  return context === undefined ? tokens : Math.min(tokens, context);
}

/** What images add to the bound of a request. */
export interface ImageBound {
  readonly tokensMax: number;
  /** Whether the upstream's rule is known for all of them. */
  readonly isKnown: boolean;
  /** How an image without a rule is counted, for messages. */
  readonly countedAs: string;
}

/** The images' part of `inputBound`; null where there are none, or a search counts more. */
export function imageBound(
  { model, request, images, countImage }: Omit<SentRequest, "body">,
): ImageBound | null {
  if (images.length === 0 || isSaid(request.web_search_options)) return null;
  const context = contextOf(model);
  const counts = images.map(countImage);
  return {
    tokensMax: counts.reduce<number>(
      (sum, count) => sum + (count ?? context ?? IMAGE_TOKENS_UNKNOWN),
      0,
    ),
    isKnown: !counts.includes(null),
    countedAs: context === undefined
      ? `${IMAGE_TOKENS_UNKNOWN} tokens`
      : "the model's whole context",
  };
}

/** The output limit that the client asked for, within the model's limit. */
export function outputLimit(model: Model, request: ChatRequest): number {
  const most = numberLimit(model, "max_output_tokens") ?? OUTPUT_TOKENS_DEFAULT;
  const asked = request.max_completion_tokens ?? request.max_tokens;
  return typeof asked === "number" ? Math.min(asked, most) : most;
}

/**
 * The output limit for a client that set none: some upstreams reject one that does not fit into the context
 * beside the prompt.
 */
export function limitBeside(model: Model, limit: number, inputTokensMax: number): number {
  const context = contextOf(model);
  if (context === undefined) return limit;
  const room = Math.floor(context - inputTokensMax / BYTES_PER_TOKEN_LEAST);
  return Math.min(limit, Math.max(OUTPUT_TOKENS_LEAST, room));
}

/** The maximum output tokens of a request with this limit. */
export function outputBound(limit: number, request: ChatRequest): number {
  const choices = typeof request.n === "number" ? request.n : 1;
  // Providers charge rejected prediction tokens as output.
  const predicted = isSaid(request.prediction)
    ? Buffer.byteLength(JSON.stringify(request.prediction))
    : 0;
  return limit * choices + predicted;
}

/** The maximum usage of a text request at any upstream, for quotes before the request is written. */
export function maxTextUsage(model: Model, request: ChatRequest): Usage {
  return {
    input_tokens: inputBound({
      model,
      request,
      body: JSON.stringify(request),
      images: [],
      countImage: () => null,
    }),
    output_tokens: outputBound(outputLimit(model, request), request),
    calls: 1,
  };
}

function hasTools({ tools, functions, response_format, messages }: ChatRequest): boolean {
  if (isSaid(tools) || isSaid(functions) || isSaid(response_format)) return true;
  // A provider that takes tool calls only beside their tools is sent tools made from the history.
  return messages.some((message) => isSaid(message.tool_calls) || isSaid(message.function_call));
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function contextOf(model: Model): number | undefined {
  return numberLimit(model, "context_tokens");
}

function numberLimit(model: Model, name: string): number | undefined {
  const limit = model.limits[name];
  return typeof limit === "number" ? limit : undefined;
}
