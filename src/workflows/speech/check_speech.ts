import { notOffered } from "../../lib/not_offered.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Model } from "../../platform/config/config.ts";
import type { Usage } from "../../domain/pricing/usage.ts";
import { maxUsage } from "../../domain/pricing/max_usage.ts";

/** A request body that fits its schema. */
export interface SpeechBody {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  readonly response_format?: SpeechFormat;
  readonly speed?: number;
}

export type SpeechFormat = "mp3" | "wav" | "pcm";

/** A checked request with its defaults filled in, and its maximum usage. */
export interface CheckedSpeech {
  job: {
    prompt: string;
    parameters: {
      voice: string;
      response_format: SpeechFormat;
      speed: number;
      seconds_max: number;
    };
    inputs: readonly never[];
  };
  maxUsage: Usage;
}

const CHARACTERS_MAX_DEFAULT = 4096;

export function checkSpeech(model: Model, body: SpeechBody): CheckedSpeech {
  const { voices, formats, max_prompt_length: longest } = model.limits;
  const max = typeof longest === "number" ? longest : CHARACTERS_MAX_DEFAULT;
  if (body.input.length > max && [...body.input].length > max) {
    throw new ApiError("prompt_too_long", `input may not be longer than ${max} characters.`, {
      param: "input",
    });
  }
  if (Array.isArray(voices) && !voices.includes(body.voice)) {
    throw notOffered(model, "voice", voices);
  }
  const offered = Array.isArray(formats) ? formats as SpeechFormat[] : null;
  // OpenAI's default where the model supports it; else the model's first format.
  const defaultFormat = offered === null || offered.includes("mp3") ? "mp3" : offered[0]!;
  const format = body.response_format ?? defaultFormat;
  if (offered !== null && !offered.includes(format)) {
    throw notOffered(model, "response_format", offered);
  }
  const usage = maxUsage(model, { ...body });
  return {
    job: {
      prompt: body.input,
      parameters: {
        voice: body.voice,
        response_format: format,
        speed: body.speed ?? 1,
        seconds_max: Number(usage.seconds),
      },
      inputs: [],
    },
    maxUsage: usage,
  };
}
