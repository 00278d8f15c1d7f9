import { Buffer } from "node:buffer";
import schema from "../../schemas/requests/chat_completions.schema.json" with { type: "json" };
import { ApiError } from "../lib/api_error.ts";
import { isAsked, isGiven } from "../lib/given.ts";
import type { ChatModelType, LimitedModel } from "./definition.ts";
import { numberLimit } from "./limits.ts";
import { TOKEN_UNITS } from "./units.ts";
import type { Usage } from "./usage.ts";

export const chat: ChatModelType = {
  work: "chat",
  capabilities: [
    ...["chat", "streaming", "vision", "files", "audio_input", "tools", "json_schema", "reasoning"],
  ],
  limits: ["max_prompt_length", "max_input_images", "context_tokens", "max_output_tokens"],
  units: { token: TOKEN_UNITS, per_call: ["call"] },
  quota: "text",
  endpoint: { path: "/chat/completions", operation: "chat" },
  request: { name: "chat_completions", schema },
};

/** A request body that its schema let pass. */
interface ChatBody {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly stream?: boolean;
  readonly [parameter: string]: unknown;
}

/** Rejects what the model does not offer: clients must not depend on what only one upstream supports. */
export function checkChatCapabilities(model: LimitedModel, request: ChatBody): void {
  if (request.stream === true) needCapability(model, "streaming", "stream");
  if (isAsked(request.tools) || isAsked(request.functions)) needCapability(model, "tools", "tools");
  const format = (request.response_format as { type?: string } | null | undefined)?.type;
  if (format === "json_schema" || format === "json_object") {
    needCapability(model, "json_schema", "response_format");
  }
  const { reasoning_effort: effort, modalities } = request;
  if (isGiven(effort) && effort !== "none") needCapability(model, "reasoning", "reasoning_effort");
  if (isAsked(modalities) && modalities.some((kind) => kind !== "text")) {
    throw textOnly(model, "modalities");
  }
  if (isGiven(request.audio)) throw textOnly(model, "audio");
}

/** What the messages of a request have in all. */
export interface MessageTotals {
  readonly images: number;
  readonly characters: number;
}

export function checkChatLimits(model: LimitedModel, { images, characters }: MessageTotals): void {
  if (images > 0) needCapability(model, "vision", "messages");
  checkMax(model, { limit: "max_input_images", value: images, param: "messages", unit: "images" });
  const charactersMax = numberLimit(model, "max_prompt_length") ?? Infinity;
  if (characters > charactersMax) {
    throw new ApiError(
      "prompt_too_long",
      `The messages have ${characters} characters. The limit of ${model.id} is ${charactersMax}.`,
      { param: "messages" },
    );
  }
}

/** The refusal of audio in any place: chats are text. */
export function textOnly({ id }: LimitedModel, param: string): ApiError {
  return new ApiError("capability_not_supported", `The model "${id}" returns text only.`, {
    param,
  });
}

export function needCapability(model: LimitedModel, capability: string, param: string): void {
  if (model.capabilities.has(capability)) return;
  throw new ApiError(
    "capability_not_supported",
    `The model "${model.id}" does not support ${capability}.`,
    { param },
  );
}

function checkMax(
  model: LimitedModel,
  { limit, value, param, unit }: { limit: string; value: number; param: string; unit: string },
): void {
  const max = numberLimit(model, limit) ?? Infinity;
  if (value <= max) return;
  throw new ApiError(
    "invalid_value",
    `${param} may not be more than ${max} ${unit} with "${model.id}".`,
    { param },
  );
}

/** Output tokens of a model without a configured limit. */
const OUTPUT_TOKENS_DEFAULT = 4096;
/** Tokens left for the answer to a prompt that may fill the context, or to an account with little money. */
export const OUTPUT_TOKENS_LEAST = 256;
/** Tokens that providers add around a prompt, and around tools or a schema. */
const FRAME_TOKENS = 64;
const TOOL_FRAME_TOKENS = 1024;
/** An image where neither the provider's rule nor the context is known: no published rule counts more. */
const IMAGE_TOKENS_UNKNOWN = 65_536;
/** Prompts have fewer tokens than half their bytes in any language; only a limit we choose ourselves relies on it. */
const BYTES_PER_TOKEN_LEAST = 2;

/** A request in the format of one upstream. */
export interface SentRequest<Image extends SentImage> {
  readonly model: LimitedModel;
  readonly request: ChatBody;
  /** The body that is sent. */
  readonly body: string;
  readonly images: readonly Image[];
  /** Tokens that the upstream counts for an image; null where unknown. */
  readonly countImage: (image: Image) => number | null;
}

interface SentImage {
  /** Length of its base64 data, which is not text. */
  readonly base64Length: number;
}

/**
 * The maximum input tokens of a request as sent. No tokenizer makes more tokens than there are bytes, so the
 * bytes of the body are an upper bound for everything in it. Images are not text: their bytes are replaced by
 * the provider's count.
 */
export function inputBound<Image extends SentImage>(
  { model, request, body, images, countImage }: SentRequest<Image>,
): number {
  const context = contextOf(model);
  // Search results are added to the prompt, whatever their length; a compressed document may hold any text.
  const isUnbounded = isGiven(request.web_search_options) || hasFiles(request);
  if (isUnbounded && context !== undefined) return context;
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
export function imageBound<Image extends SentImage>(
  { model, request, images, countImage }: Omit<SentRequest<Image>, "body">,
): ImageBound | null {
  if (images.length === 0 || isGiven(request.web_search_options)) return null;
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

/** The client's own limit, under either of its names. */
export function askedLimit({ max_completion_tokens, max_tokens }: ChatBody): unknown {
  return max_completion_tokens ?? max_tokens;
}

/** The output limit that the client asked for, within the model's limit. */
export function outputLimit(model: LimitedModel, request: ChatBody): number {
  const most = numberLimit(model, "max_output_tokens") ?? OUTPUT_TOKENS_DEFAULT;
  const asked = askedLimit(request);
  return typeof asked === "number" ? Math.min(asked, most) : most;
}

/**
 * The output limit for a client that set none: some upstreams reject one that does not fit into the context
 * beside the prompt.
 */
export function limitBeside(model: LimitedModel, limit: number, inputTokensMax: number): number {
  const context = contextOf(model);
  if (context === undefined) return limit;
  const room = Math.floor(context - inputTokensMax / BYTES_PER_TOKEN_LEAST);
  return Math.min(limit, Math.max(OUTPUT_TOKENS_LEAST, room));
}

/** The maximum output tokens of a request with this limit. */
export function outputBound(limit: number, request: ChatBody): number {
  const choices = typeof request.n === "number" ? request.n : 1;
  // Providers charge rejected prediction tokens as output.
  const predicted = isGiven(request.prediction)
    ? Buffer.byteLength(JSON.stringify(request.prediction))
    : 0;
  return limit * choices + predicted;
}

/** The maximum usage of a text request at any upstream, for quotes before the request is written. */
export function maxChatUsage(model: LimitedModel, request: ChatBody): Usage {
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

function hasTools({ tools, functions, response_format, messages }: ChatBody): boolean {
  if (isGiven(tools) || isGiven(functions) || isGiven(response_format)) return true;
  // A provider that takes tool calls only beside their tools is sent tools made from the history.
  return messages.some((message) => isGiven(message.tool_calls) || isGiven(message.function_call));
}

function hasFiles({ messages }: ChatBody): boolean {
  return messages.some(({ content }) =>
    Array.isArray(content) && content.some((part) => part?.type === "file")
  );
}

function contextOf(model: LimitedModel): number | undefined {
  return numberLimit(model, "context_tokens");
}

/**
 * What a provider reports of an answer. The counts do not overlap: `input` excludes cached, written and audio
 * tokens, `output` excludes reasoning and audio. Together they are the provider's total.
 */
export interface ReportedUsage {
  readonly input: number;
  readonly cachedInput: number;
  /** Written to the provider's cache, for some minutes or for an hour. */
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  readonly audioInput?: number;
  readonly output: number;
  readonly reasoning: number;
  readonly audioOutput?: number;
  /** Left out where the provider does not count them. */
  readonly webSearches?: number;
  /** The processing tier that served the request, by the provider's name; left out for the base tier. */
  readonly serviceTier?: string;
}

export function inputTokens(usage: ReportedUsage): number {
  const { input, cachedInput, cacheWrite = 0, cacheWrite1h = 0, audioInput = 0 } = usage;
  return input + cachedInput + cacheWrite + cacheWrite1h + audioInput;
}

export function outputTokens({ output, reasoning, audioOutput = 0 }: ReportedUsage): number {
  return output + reasoning + audioOutput;
}

/** Tokens of an answer: the provider's count, or our estimate where it gave none. */
export interface MeteredChat {
  readonly tokens: ReportedUsage;
  readonly isEstimated: boolean;
}

/** What a request asked for beyond its base price. */
export interface AskedExtras {
  readonly serviceTier?: string | undefined;
  readonly webSearch?: boolean | undefined;
}

/** The quantities that the price of a chat is applied to. */
export function chatUsage({ tokens, isEstimated }: MeteredChat, asked: AskedExtras = {}): Usage {
  const { cacheWrite, cacheWrite1h, audioInput, audioOutput, serviceTier } = tokens;
  // A provider that searches without counting searches once for each answer.
  const searches = tokens.webSearches ?? (asked.webSearch ? 1 : 0);
  const usage: Usage = {
    input_tokens: tokens.input,
    cached_input_tokens: tokens.cachedInput,
    output_tokens: tokens.output,
    reasoning_tokens: tokens.reasoning,
    calls: 1,
  };
  if (cacheWrite) usage.cache_write_tokens = cacheWrite;
  if (cacheWrite1h) usage.cache_write_1h_tokens = cacheWrite1h;
  if (audioInput) usage.audio_input_tokens = audioInput;
  if (audioOutput) usage.audio_output_tokens = audioOutput;
  if (searches > 0) usage.web_searches = searches;
  // A tier that the client did not ask for is the base price to it, whatever served it.
  if (serviceTier !== undefined && serviceTier === asked.serviceTier) {
    usage.service_tier = serviceTier;
  }
  if (isEstimated) usage.estimated = true;
  return usage;
}
