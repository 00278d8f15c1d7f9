import { Buffer } from "node:buffer";
import { type Directives, type FailLimit, parseDirectives, takeDirectives } from "./directives.ts";
import {
  type JsonObject,
  missing,
  parseBody,
  readNumber,
  readString,
  wrongType,
  wrongValue,
} from "./fields.ts";
import {
  planError,
  planLostAnswer,
  planWhole,
  planWithoutWork,
  type ResponsePlan,
} from "./plan_response.ts";
import { seededRandom } from "./random.ts";
import { tokenize } from "./tokens.ts";
import { WireError } from "./wire_error.ts";

/** The embedding models, by their upstream names. */
const MODELS: Readonly<Record<string, { dimensions: number; tokensMax: number }>> = {
  "embedding": { dimensions: 1536, tokensMax: 8192 },
};
const INPUTS_MAX = 2048;
const ENCODINGS = ["float", "base64"];
/** Words of a text that its vector is made of, and numbers of the vector that each changes. */
const WORDS_MAX = 256;
const NUMBERS_PER_WORD = 64;

/** Decides what a request for embeddings is answered with. */
export function planEmbeddings(
  { defaults, failLimit }: { defaults: Directives; failLimit: FailLimit },
  header: string | null,
  text: string,
): ResponsePlan {
  try {
    const configured = { ...defaults, ...parseDirectives(header ?? "") };
    const request = readRequest(parseBody(text));
    const last = request.inputs.at(-1)!;
    const said = takeDirectives(typeof last === "string" ? last : "", configured);
    const directives = failLimit.apply({ ...configured, ...said.directives });
    return planWithoutWork(directives) ?? planLostAnswer(directives) ??
      planWhole(answer(request, directives), directives);
  } catch (error) {
    if (error instanceof WireError) return planError(error);
    throw error;
  }
}

interface SimulatedEmbeddings {
  readonly model: string;
  readonly inputs: readonly (string | readonly number[])[];
  readonly dimensions: number;
  readonly tokens: readonly (readonly string[])[];
  readonly isBase64: boolean;
}

function readRequest(body: JsonObject): SimulatedEmbeddings {
  const model = readString(body, "model") ?? "";
  const known = Object.hasOwn(MODELS, model) ? MODELS[model]! : null;
  if (known === null) {
    throw new WireError(404, `The model \`${model}\` does not exist.`, null, "model_not_found");
  }
  const inputs = readInputs(body.input);
  const tokens = inputs.map((input) =>
    typeof input === "string" ? tokenize(input) : input.map(String)
  );
  const long = tokens.findIndex(({ length }) => length > known.tokensMax);
  if (long !== -1) {
    const message = `Invalid 'input[${long}]': maximum input length is ${known.tokensMax} tokens.`;
    throw new WireError(400, message);
  }
  const encoding = readString(body, "encoding_format") ?? "float";
  if (!ENCODINGS.includes(encoding)) throw wrongValue("encoding_format", encoding, ENCODINGS);
  readString(body, "user");
  const range = { kind: "integer", min: 1, max: known.dimensions } as const;
  const dimensions = readNumber(body, "dimensions", range) ?? known.dimensions;
  return { model, inputs, tokens, dimensions, isBase64: encoding === "base64" };
}

function readInputs(input: unknown): SimulatedEmbeddings["inputs"] {
  if (input === undefined || input === null) throw missing("input");
  if (typeof input === "string") return [input];
  if (!Array.isArray(input) || input.length === 0) throw wrongType("input", "an array", input);
  const inputs = typeof input[0] === "number" ? [input] : input;
  if (inputs.length > INPUTS_MAX) {
    throw new WireError(400, `'input' must have at most ${INPUTS_MAX} entries.`, "input");
  }
  return inputs;
}

function answer(request: SimulatedEmbeddings, { no_usage }: Directives): string {
  const total = request.tokens.reduce((sum, { length }) => sum + length, 0);
  return JSON.stringify({
    object: "list",
    data: request.tokens.map((tokens, index) => {
      const vector = vectorOf(tokens, request.dimensions);
      const embedding = request.isBase64 ? base64Of(vector) : [...vector];
      return { object: "embedding", index, embedding };
    }),
    model: request.model,
    usage: no_usage ? undefined : { prompt_tokens: total, total_tokens: total },
  });
}

/** The same text has the same vector, and texts with common words have similar ones. Its length is 1. */
function vectorOf(tokens: readonly string[], dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const words = new Set(tokens.map((token) => token.trim().toLowerCase()));
  for (const word of [...words].slice(0, WORDS_MAX)) {
    const random = seededRandom(`embedding ${word}`);
    for (let times = 0; times < NUMBERS_PER_WORD; times++) {
      vector[random.below(dimensions)]! += random.below(2001) - 1000;
    }
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => length === 0 ? 0 : value / length);
}

function base64Of(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}
