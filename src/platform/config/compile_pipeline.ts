import type { ChainEntry, ModelEntry } from "./gateway_file.ts";
import { STAGE_MODELS } from "../../model_types/drama.ts";
import type { ModelType } from "../../model_types/model_types.ts";
import type { DramaPipeline, TextStage } from "./config.ts";

const SCRIPT_PROMPT =
  `You are a screenwriter. Turn the text below into a script of {{shots_min}} to \
{{shots_max}} scenes for episode {{episode}} of "{{title}}". Each scene is one shot of a video in \
{{aspect_ratio}}: describe what is seen in its action, and give the lines that are spoken in it. Use \
the characters listed, by their names.

Characters: {{characters}}

Text:
{{script}}`;

const ROLES_PROMPT =
  `You are a casting director. For each character of "{{title}}" describe looks that \
stay the same in every image: age, build, face, hair, clothes. Answer for all of these: {{characters}}

Scenes:
{{scenes}}`;

const STORYBOARD_PROMPT =
  `{{heading}}. {{action}} {{looks}} A cinematic still in {{aspect_ratio}}, shot {{shot}} of {{shots}}.`;

const VIDEO_PROMPT = `{{heading}}. {{action}} {{looks}}`;

const NOT_OFFERED = { offered: false } as const;

/** The pipeline of a drama with defaults filled in. The file has been checked before. */
export function compilePipeline(
  pipeline: ChainEntry,
  models: ReadonlyMap<string, ModelEntry>,
): DramaPipeline {
  const { script, roles, storyboard, video } = pipeline;
  return {
    script: textStage(script, SCRIPT_PROMPT),
    roles: roles === undefined ? NOT_OFFERED : { offered: true, ...textStage(roles, ROLES_PROMPT) },
    storyboard: storyboard === undefined ? NOT_OFFERED : {
      offered: true,
      model: storyboard.model,
      prompt: storyboard.prompt ?? STORYBOARD_PROMPT,
      sizes: new Map(Object.entries(storyboard.sizes ?? {})),
    },
    video: video === undefined ? NOT_OFFERED : {
      offered: true,
      model: video.model,
      prompt: video.prompt ?? VIDEO_PROMPT,
      duration: video.duration ??
        Math.min(...models.get(video.model)!.limits?.durations ?? [DEFAULT_DURATION]),
      speech: video.speech === undefined ? NOT_OFFERED : {
        offered: true,
        model: video.speech.model,
        voices: video.speech.voices ?? models.get(video.speech.model)!.limits?.voices ?? [],
        charactersMax: video.speech.max_characters ?? 300,
      },
    },
    shotsMin: pipeline.min_shots ?? 1,
    tries: pipeline.tries ?? 3,
    shotsAtOnce: pipeline.shots_at_once ?? 4,
  };
}

const DEFAULT_DURATION = 5;

function textStage(stage: ChainEntry["script"], prompt: string): TextStage {
  return {
    model: stage.model,
    prompt: stage.prompt ?? prompt,
    schema: stage.schema ?? null,
    maxOutputTokens: stage.max_output_tokens ?? 4000,
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
