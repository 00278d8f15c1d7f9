import { MODEL_TYPES, type ModelType } from "../../lib/model_types.ts";

/** One entry per model type; used by the configuration checks and the OpenAPI document. */
export { MODEL_TYPES, type ModelType };
export type BillingType = "token" | "per_call" | "duration";

interface ModelTypeSpec {
  capabilities: readonly string[];
  limits: readonly string[];
  /** Units by billing type; other billing types are not allowed. */
  units: Partial<Record<BillingType, readonly string[]>>;
}

const TIME = ["second", "minute"] as const;

export const MODEL_TYPE_SPECS: Readonly<Record<ModelType, ModelTypeSpec>> = {
  chat: {
    capabilities: ["chat", "streaming", "vision", "tools", "json_schema", "reasoning"],
    limits: ["max_prompt_length", "max_input_images", "context_tokens", "max_output_tokens"],
    units: { token: ["1K tokens", "1M tokens"], per_call: ["call"] },
  },
  image: {
    capabilities: ["text_to_image", "image_to_image"],
    limits: ["aspect_ratios", "max_prompt_length", "sizes", "max_count", "max_input_images"],
    units: { per_call: ["image", "call"] },
  },
  video: {
    capabilities: ["text_to_video", "image_to_video"],
    limits: ["durations", "aspect_ratios", "max_prompt_length", "max_input_images"],
    units: { per_call: ["video", "call"], duration: TIME },
  },
  avatar: {
    capabilities: ["audio_to_avatar"],
    limits: ["durations", "aspect_ratios"],
    units: { per_call: ["video", "call"], duration: TIME },
  },
  drama: {
    capabilities: ["script", "roles", "storyboard", "final_video"],
    limits: ["aspect_ratios", "max_prompt_length", "max_characters", "max_shots"],
    units: { per_call: ["episode", "shot", "call"], duration: TIME },
  },
  speech: {
    capabilities: ["text_to_speech"],
    limits: ["max_prompt_length", "voices", "formats"],
    units: { per_call: ["1K characters", "1M characters", "call"], duration: TIME },
  },
};

/** The entry of a type; null for anything that is not a model type. */
export function modelTypeSpec(type: unknown): ModelTypeSpec | null {
  return typeof type === "string" && Object.hasOwn(MODEL_TYPE_SPECS, type)
    ? MODEL_TYPE_SPECS[type as ModelType]
    : null;
}

/** "an image model", "a video model". */
export function modelWithArticle(type: unknown): string {
  return `${/^[aeiou]/.test(String(type)) ? "an" : "a"} ${type} model`;
}

export const MODEL_STATUSES = ["available", "preview", "deprecated", "unavailable"] as const;
export type ModelStatus = (typeof MODEL_STATUSES)[number];
export const CAPABILITIES = MODEL_TYPES.flatMap((type) => MODEL_TYPE_SPECS[type].capabilities);

/** How many base items one unit has, so that prices in different units can be compared. */
export const UNIT_SIZES: Readonly<Record<string, bigint>> = {
  "1K tokens": 1_000n,
  "1M tokens": 1_000_000n,
  "1K characters": 1_000n,
  "1M characters": 1_000_000n,
  second: 1n,
  minute: 60n,
  image: 1n,
  call: 1n,
  video: 1n,
  episode: 1n,
  shot: 1n,
};

/** Only units of one family can be compared: a price per image and a cost per second cannot. */
export function unitFamily(unit: string): string {
  if (unit.endsWith("tokens")) return "tokens";
  if (unit.endsWith("characters")) return "characters";
  return unit === "minute" ? "second" : unit;
}
