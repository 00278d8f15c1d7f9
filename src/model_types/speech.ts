import schema from "../../schemas/requests/audio_speech.schema.json" with { type: "json" };
import { notOffered } from "../lib/not_offered.ts";
import type { LimitedModel, MediaModelType, RequestFields } from "./definition.ts";
import { checkLength, listLimit } from "./limits.ts";
import { capMs, decimalSeconds, measuredMs } from "./measured_time.ts";
import { CHARACTER_UNITS, TIME_UNITS } from "./units.ts";
import { type Usage, withOptions } from "./usage.ts";

/** Texts of models that declare no limit of their own, in characters. */
const CHARACTERS_MAX_DEFAULT = 4096;

export const speech: MediaModelType = {
  work: "media",
  output: "audio",
  capabilities: ["text_to_speech"],
  limits: ["max_prompt_length", "voices", "formats"],
  units: { per_call: [...CHARACTER_UNITS, "call"], duration: TIME_UNITS },
  quota: null,
  endpoint: { path: "/audio/speech", operation: "speech" },
  request: { name: "audio_speech", schema },

  check: ({ model, body }) => checkSpeech(model, body as RequestFields & SpeechBody),

  /** Characters of the text, and the length of the audio. */
  meter({ prompt, parameters }, made) {
    const characters = [...prompt ?? ""].length;
    const ms = measuredMs(made);
    const seconds = decimalSeconds(capMs(ms, parameters.seconds_max));
    const usage = { characters, calls: 1, seconds, ...(ms === null ? { estimated: true } : {}) };
    return { usage: withOptions(usage, parameters), units: characters };
  },
};

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
  readonly job: {
    readonly prompt: string;
    readonly parameters: {
      readonly voice: string;
      readonly response_format: SpeechFormat;
      readonly speed: number;
      readonly seconds_max: number;
    };
    readonly inputs: readonly never[];
  };
  readonly maxUsage: Usage;
}

export function checkSpeech(model: LimitedModel, body: SpeechBody): CheckedSpeech {
  checkLength(model, body.input, "input", CHARACTERS_MAX_DEFAULT);
  const voices = listLimit<string>(model, "voices");
  if (voices !== undefined && !voices.includes(body.voice)) {
    throw notOffered(model, "voice", voices);
  }
  const offered = listLimit<SpeechFormat>(model, "formats");
  // OpenAI's default where the model supports it; else the model's first format.
  const defaultFormat = offered === undefined || offered.includes("mp3") ? "mp3" : offered[0]!;
  const format = body.response_format ?? defaultFormat;
  if (offered !== undefined && !offered.includes(format)) {
    throw notOffered(model, "response_format", offered);
  }
  const options = { voice: body.voice, response_format: format };
  const maxUsage = maxSpeechUsage([...body.input].length, options);
  return {
    job: {
      prompt: body.input,
      parameters: {
        ...options,
        speed: body.speed ?? 1,
        seconds_max: maxUsage.seconds,
      },
      inputs: [],
    },
    maxUsage,
  };
}

/** Slow speech: five characters a second at a quarter of the speed. */
export function maxSpeechUsage(
  characters: number,
  options: { voice?: string | undefined; response_format: string },
): Usage & { seconds: number } {
  const { voice, ...rest } = options;
  return withOptions(
    { characters, seconds: Math.ceil(characters * 4 / 5), calls: 1 },
    voice === undefined ? rest : { ...rest, voice },
  );
}
