import { Buffer } from "node:buffer";
import schema from "../../schemas/requests/embeddings.schema.json" with { type: "json" };
import { ApiError } from "../lib/api_error.ts";
import type { EmbeddingModelType, LimitedModel } from "./definition.ts";
import { numberLimit } from "./limits.ts";
import { TOKEN_UNITS } from "./units.ts";
import type { Usage } from "./usage.ts";

export const embedding: EmbeddingModelType = {
  work: "embedding",
  capabilities: ["embeddings"],
  limits: ["max_inputs", "max_input_tokens", "max_dimensions"],
  units: { token: TOKEN_UNITS },
  quota: "text",
  endpoint: { path: "/embeddings", operation: "embeddings" },
  request: { name: "embeddings", schema },
};

/** Texts of one request to models that declare no limit of their own; as OpenAI's. */
const INPUTS_MAX_DEFAULT = 2048;
/** The length of vectors of models that declare no limit of their own. */
const DIMENSIONS_MAX_DEFAULT = 8192;
/** Tokens that providers may add around a text. */
const FRAME_TOKENS = 4;
/** Tokenizers differ: a text is refused by our count only if it is above the limit by more than this. */
const COUNT_TOLERANCE = 1.1;
/** How far an upstream's count may exceed the maximum of the request before our estimate is used instead. */
const ABSURD_FACTOR = 100;

/** A request body that fits its schema. */
export interface EmbeddingBody {
  readonly input: string | readonly (string | number | readonly number[])[];
  readonly encoding_format?: VectorEncoding;
  readonly dimensions?: number;
  readonly user?: string;
}

export type VectorEncoding = "float" | "base64";

/** What is to be embedded: texts, or texts as lists of tokens. Never empty. */
export type EmbeddingInputs = readonly string[] | readonly (readonly number[])[];

/** A checked request with its defaults filled in. */
export interface EmbeddingRequest {
  readonly inputs: EmbeddingInputs;
  readonly encoding: VectorEncoding;
  /** Undefined: the model's own. */
  readonly dimensions: number | undefined;
  readonly user: string | undefined;
}

/** Rejects what the model's configuration does not offer. */
export function checkEmbeddings(model: LimitedModel, body: EmbeddingBody): EmbeddingRequest {
  const inputs = readInputs(body.input);
  const inputsMax = numberLimit(model, "max_inputs") ?? INPUTS_MAX_DEFAULT;
  if (inputs.length > inputsMax) {
    throw invalid("input", `input may not have more than ${inputsMax} texts with ${model.id}`);
  }
  checkTokenLists(model, inputs);
  checkDimensions(model, body.dimensions);
  return {
    inputs,
    encoding: body.encoding_format ?? "float",
    dimensions: body.dimensions,
    user: body.user,
  };
}

function readInputs(input: EmbeddingBody["input"]): EmbeddingInputs {
  if (typeof input === "string") return [input];
  const kind = kindOf(input[0]);
  const other = input.findIndex((each) => kindOf(each) !== kind);
  if (other !== -1) {
    throw invalid(
      `input.${other}`,
      "input must have texts only, or tokens only, or lists of tokens only",
    );
  }
  return kind === "number" ? [input as readonly number[]] : input as EmbeddingInputs;
}

function kindOf(entry: unknown): string {
  return Array.isArray(entry) ? "list" : typeof entry;
}

export function isTexts(inputs: EmbeddingInputs): inputs is readonly string[] {
  return typeof inputs[0] === "string";
}

function checkTokenLists(model: LimitedModel, inputs: EmbeddingInputs): void {
  const tokensMax = numberLimit(model, "max_input_tokens");
  if (tokensMax === undefined || isTexts(inputs)) return;
  const long = inputs.findIndex((tokens) => tokens.length > tokensMax);
  if (long !== -1) throw inputTooLong(model, inputs.length === 1 ? "input" : `input.${long}`);
}

function checkDimensions(model: LimitedModel, dimensions: number | undefined): void {
  if (dimensions === undefined) return;
  const max = numberLimit(model, "max_dimensions");
  if (max === undefined) {
    throw invalid("dimensions", `${model.id} does not take dimensions: leave it out`);
  }
  if (dimensions > max) {
    throw invalid("dimensions", `dimensions may not be more than ${max} with ${model.id}`);
  }
}

function invalid(param: string, problem: string): ApiError {
  return new ApiError("invalid_value", `${problem}.`, { param });
}

/** A text, or all texts together, are longer than the model reads. */
export function inputTooLong(model: LimitedModel, param = "input", cause?: unknown): ApiError {
  const max = numberLimit(model, "max_input_tokens");
  const limit = max === undefined ? "" : ` (${max} tokens for each text)`;
  return new ApiError(
    "prompt_too_long",
    `${param} is longer than ${model.id} reads${limit}. Send shorter or fewer texts.`,
    { param, cause },
  );
}

/**
 * The longest text, if it may exceed the limit of tokens; null: none can. Counting tokens takes time, so only this one
 * is counted; an upstream refuses what is too long besides.
 */
export function suspectText(
  model: LimitedModel,
  { inputs }: EmbeddingRequest,
): { readonly text: string; readonly param: string; isTooLong(tokens: number): boolean } | null {
  const max = numberLimit(model, "max_input_tokens");
  if (max === undefined || !isTexts(inputs)) return null;
  let longest = 0;
  for (const [at, text] of inputs.entries()) {
    if (text.length > inputs[longest]!.length) longest = at;
  }
  const text = inputs[longest]!;
  if (Buffer.byteLength(text) <= max) return null;
  return {
    text,
    param: inputs.length === 1 ? "input" : `input.${longest}`,
    isTooLong: (tokens) => tokens > max * COUNT_TOLERANCE,
  };
}

/** The maximum usage of a request: no tokenizer makes more tokens than a text has bytes. */
export function maxEmbeddingUsage(model: LimitedModel, { inputs }: EmbeddingRequest): Usage {
  const most = numberLimit(model, "max_input_tokens") ?? Infinity;
  let tokens = 0;
  for (const input of inputs) {
    const length = typeof input === "string" ? Buffer.byteLength(input) : input.length;
    tokens += Math.min(length, most) + FRAME_TOKENS;
  }
  return { input_tokens: tokens, calls: 1 };
}

/** The greatest length that a vector of the answer can have. */
export function maxDimensions(model: LimitedModel, { dimensions }: EmbeddingRequest): number {
  return dimensions ?? numberLimit(model, "max_dimensions") ?? DIMENSIONS_MAX_DEFAULT;
}

/**
 * The upstream's count of tokens, if it can be believed. Some servers report zero for what they did not count, and no
 * request is empty.
 */
export function believedTokens(reported: number | null, { input_tokens: max = 0 }: Usage) {
  return reported !== null && reported > 0 && reported <= max * ABSURD_FACTOR ? reported : null;
}

/** The quantities that the price is applied to. */
export function embeddingUsage(tokens: number, isEstimated: boolean): Usage {
  return { input_tokens: tokens, calls: 1, ...(isEstimated ? { estimated: true } : {}) };
}
