import schema from "../../schemas/requests/dramas_generations.schema.json" with { type: "json" };
import { ApiError } from "../lib/api_error.ts";
import type { LimitedModel, PipelineModelType } from "./definition.ts";
import { checkLength, numberLimit, readAspectRatio } from "./limits.ts";
import { TIME_UNITS } from "./units.ts";
import type { Usage } from "./usage.ts";

/** The stages of a drama in their order: each needs the stages before it. */
export const DRAMA_STAGES = ["script", "roles", "storyboard", "video"] as const;
export type DramaStage = (typeof DRAMA_STAGES)[number];

/** The capability of a drama model that offers a stage. */
export const CAPABILITY_OF: Readonly<Record<DramaStage, string>> = {
  script: "script",
  roles: "roles",
  storyboard: "storyboard",
  video: "final_video",
};

/** The stages up to the last one wanted. */
export function stagesUntil(last: DramaStage): readonly DramaStage[] {
  return DRAMA_STAGES.slice(0, DRAMA_STAGES.indexOf(last) + 1);
}

/** The models that a pipeline names, each by the path of its key, and the types they must have. */
export const STAGE_MODELS = [
  { path: ["script", "model"], type: "chat" },
  { path: ["roles", "model"], type: "chat" },
  { path: ["storyboard", "model"], type: "image" },
  { path: ["video", "model"], type: "video" },
  { path: ["video", "speech", "model"], type: "speech" },
] as const;

export const drama: PipelineModelType = {
  work: "pipeline",
  capabilities: DRAMA_STAGES.map((stage) => CAPABILITY_OF[stage]),
  limits: ["aspect_ratios", "max_prompt_length", "max_characters", "max_shots"],
  units: { per_call: ["episode", "shot", "call"], duration: TIME_UNITS },
  quota: null,
  endpoint: { path: "/dramas/generations", operation: "generation" },
  request: { name: "dramas_generations", schema },
};

/** Checks the texts of a drama against its model; returns its aspect ratio, filled in. */
export function checkDramaLimits(
  model: LimitedModel,
  { script, aspect_ratio, characters = [] }: {
    readonly script: string;
    readonly aspect_ratio?: string | undefined;
    readonly characters?: readonly unknown[] | undefined;
  },
): string | null {
  if (script.trim() === "") {
    throw new ApiError("invalid_value", "script must tell a story: it is empty.", {
      param: "script",
    });
  }
  checkLength(model, script, "script");
  const ratio = readAspectRatio({ model, body: { aspect_ratio } }).aspect_ratio;
  const most = numberLimit(model, "max_characters");
  if (most !== undefined && characters.length > most) {
    throw new ApiError("invalid_value", `characters may not have more than ${most} entries.`, {
      param: "characters",
    });
  }
  return ratio === undefined ? null : String(ratio);
}

/** The last stage that is wanted; by default all of them. */
export function checkStage(model: LimitedModel, stage: DramaStage = "video"): DramaStage {
  if (model.capabilities.has(CAPABILITY_OF[stage])) return stage;
  throw new ApiError("capability_not_supported", `${model.id} does not go as far as ${stage}.`, {
    param: "stage",
  });
}

/** Units of a drama's own price: of as many shots, up to a stage. */
export function maxDramaUsage(
  until: DramaStage,
  { shots, shotSeconds }: { shots: number; shotSeconds: number },
): Usage {
  const stages = stagesUntil(until);
  const hasVideo = stages.includes("video");
  return {
    shots: stages.includes("storyboard") ? shots : 0,
    episodes: hasVideo ? 1 : 0,
    calls: 1,
    seconds: hasVideo ? shots * shotSeconds : 0,
  };
}

/** The same of what was made: nothing is charged for a drama of which nothing was. */
export function dramaUsage(made: MadeUnits, subtasks: number): Usage {
  return { ...made, calls: subtasks > 0 ? 1 : 0 };
}

export interface MadeUnits {
  readonly shots: number;
  readonly episodes: 0 | 1;
  readonly seconds: number;
}
