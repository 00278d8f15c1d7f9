import { blockOf, type Checker, listOf } from "./checker.ts";
import { modelsOfPipeline } from "./compile_pipeline.ts";
import type { GatewayFile } from "./gateway_file.ts";
import type { Path } from "./issues.ts";
import { CAPABILITY_OF, DRAMA_STAGES } from "../../model_types/drama.ts";
import { isModelType, isPipeline, modelWithArticle } from "../../model_types/model_types.ts";
import { modelNamesOf, type ModelsById, modelsById } from "./model_names.ts";
import { placeholdersOf } from "./template.ts";

type Keys = Record<string, unknown>;

const TEXT_PLACEHOLDERS = [
  "title",
  "script",
  "characters",
  "episode",
  "aspect_ratio",
  "shots_min",
  "shots_max",
];
const SHOT_PLACEHOLDERS = ["title", "heading", "action", "looks", "shot", "shots", "aspect_ratio"];
const PLACEHOLDERS: Readonly<Record<string, readonly string[]>> = {
  script: TEXT_PLACEHOLDERS,
  roles: [...TEXT_PLACEHOLDERS, "scenes"],
  storyboard: SHOT_PLACEHOLDERS,
  video: SHOT_PLACEHOLDERS,
};

/** Pipelines of dramas: their models exist and have the right type, and their prompts use known placeholders. */
export function checkPipelines(checker: Checker, file: Partial<GatewayFile>): void {
  const models = modelsById(file);
  const modelNames = modelNamesOf(checker, file, models);
  for (const [index, drama] of listOf(file.models).map(blockOf).entries()) {
    if (!isPipeline(drama.type) || drama.chain === undefined) continue;
    const path: Path = ["models", index];
    const pipeline = blockOf(drama.chain);
    for (const { path: at, model, type } of modelsOfPipeline(drama.chain)) {
      const where = [...path, "chain", ...at];
      checker.reference(where, model, "model", modelNames);
      const used = models.get(model)?.model;
      if (used !== undefined && isModelType(used.type) && used.type !== type) {
        checker.report(where, {
          message: `${checker.sourceText(where)} is ${
            modelWithArticle(used.type)
          }: this stage needs ${modelWithArticle(type)}`,
        });
      }
    }
    checkStages(checker, path, drama, pipeline);
    checkShots(checker, path, drama, { pipeline, models });
    checkPlaceholders(checker, path, pipeline);
  }
}

/** The pipeline has every stage that the drama offers, and the stages before it. */
function checkStages(checker: Checker, path: Path, drama: Keys, pipeline: Keys): void {
  const offered = listOf(drama.capabilities);
  const last = DRAMA_STAGES.findLastIndex((stage) => offered.includes(CAPABILITY_OF[stage]));
  for (const stage of DRAMA_STAGES.slice(0, last + 1)) {
    if (pipeline[stage] !== undefined) continue;
    checker.report([...path, "chain"], {
      message: `has no ${stage} stage, which the capability ${
        CAPABILITY_OF[DRAMA_STAGES[last]!]
      } needs`,
    }, "key");
  }
  const limits = blockOf(drama.limits);
  if (limits.max_shots === undefined) {
    checker.report([...path, "chain"], {
      message: "needs the limit max_shots, which decides how much money is held",
      suggestion: "Add limits.max_shots.",
    }, "key");
  } else if (Number(pipeline.min_shots ?? 1) > Number(limits.max_shots)) {
    checker.report([...path, "chain", "min_shots"], {
      message: "is more than limits.max_shots",
    });
  }
}

function checkShots(
  checker: Checker,
  path: Path,
  drama: Keys,
  { pipeline, models }: { pipeline: Keys; models: ModelsById },
): void {
  const ratios = listOf(blockOf(drama.limits).aspect_ratios);
  const limitsOf = (stage: unknown) =>
    blockOf(models.get(String(blockOf(stage).model))?.model.limits);
  const sizes = blockOf(blockOf(pipeline.storyboard).sizes);
  const offeredSizes = limitsOf(pipeline.storyboard).sizes;
  for (const [ratio, size] of Object.entries(sizes)) {
    const at = [...path, "chain", "storyboard", "sizes", ratio];
    if (!ratios.includes(ratio)) {
      checker.report(at, { message: "is not among the limits.aspect_ratios of this drama" }, "key");
    }
    if (Array.isArray(offeredSizes) && !offeredSizes.includes(size)) {
      checker.report(at, { message: "is not among the limits.sizes of the image model" });
    }
  }
  const video = blockOf(pipeline.video);
  const { durations, aspect_ratios: videoRatios } = limitsOf(video);
  if (
    video.duration !== undefined && Array.isArray(durations) && !durations.includes(video.duration)
  ) {
    checker.report([...path, "chain", "video", "duration"], {
      message: "is not among the limits.durations of the video model",
    });
  }
  for (const [at, ratio] of pipeline.video === undefined ? [] : ratios.entries()) {
    if (!Array.isArray(videoRatios) || videoRatios.includes(ratio)) continue;
    checker.report([...path, "limits", "aspect_ratios", at], {
      message: "is not among the limits.aspect_ratios of the pipeline's video model",
    });
  }
  const { voices } = limitsOf(video.speech);
  for (const [at, voice] of listOf(blockOf(video.speech).voices).entries()) {
    if (!Array.isArray(voices) || voices.includes(voice)) continue;
    checker.report([...path, "chain", "video", "speech", "voices", at], {
      message: "is not among the limits.voices of the speech model",
    });
  }
}

function checkPlaceholders(checker: Checker, path: Path, pipeline: Keys): void {
  for (const stage of DRAMA_STAGES) {
    const { prompt } = blockOf(pipeline[stage]);
    if (typeof prompt !== "string") continue;
    if ([...placeholdersOf(prompt)].some((name) => !PLACEHOLDERS[stage]!.includes(name))) {
      checker.report([...path, "chain", stage, "prompt"], {
        message: `has an unknown placeholder: use ${
          PLACEHOLDERS[stage]!.map((name) => `{{${name}}}`).join(" ")
        }`,
      });
    }
  }
}
