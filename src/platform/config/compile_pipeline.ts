import type { ChainEntry, ModelEntry } from "./gateway_file.ts";
import { STAGE_MODELS } from "../../model_types/drama.ts";
import type { ModelType } from "../../model_types/model_types.ts";
import type { DramaPipeline, TextStage } from "./config.ts";

const NOT_OFFERED = { offered: false } as const;

/** The pipeline of a drama, with what it takes from its models. The file has been checked before. */
export function compilePipeline(
  pipeline: ChainEntry,
  models: ReadonlyMap<string, ModelEntry>,
): DramaPipeline {
  const { script, roles, storyboard, video } = pipeline;
  return {
    script: textStage(script),
    roles: roles === undefined ? NOT_OFFERED : { offered: true, ...textStage(roles) },
    storyboard: storyboard === undefined ? NOT_OFFERED : {
      offered: true,
      model: storyboard.model,
      prompt: storyboard.prompt,
      sizes: new Map(Object.entries(storyboard.sizes ?? {})),
    },
    video: video === undefined ? NOT_OFFERED : {
      offered: true,
      model: video.model,
      prompt: video.prompt,
      duration: video.duration ??
        Math.min(...models.get(video.model)!.limits?.durations ?? [DEFAULT_DURATION]),
      speech: video.speech === undefined ? NOT_OFFERED : {
        offered: true,
        model: video.speech.model,
        voices: video.speech.voices ?? models.get(video.speech.model)!.limits?.voices ?? [],
        charactersMax: video.speech.max_characters,
      },
    },
    shotsMin: pipeline.min_shots,
    tries: pipeline.tries,
    shotsAtOnce: pipeline.shots_at_once,
  };
}

const DEFAULT_DURATION = 5;

function textStage(stage: ChainEntry["script"]): TextStage {
  return {
    model: stage.model,
    prompt: stage.prompt,
    schema: stage.schema ?? null,
    maxOutputTokens: stage.max_output_tokens,
  };
}

/** Every model that a pipeline uses, with the path of its key. */
export function modelsOfPipeline(
  pipeline: unknown,
): { path: readonly string[]; model: string; type: ModelType }[] {
  return STAGE_MODELS.flatMap(({ path, type }) => {
    const model = path.reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | null | undefined)?.[key],
      pipeline,
    );
    return typeof model === "string" ? [{ path, model, type }] : [];
  });
}
