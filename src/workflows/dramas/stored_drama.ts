import { z } from "zod";
import { storedPrice } from "../../domain/pricing/stored_price.ts";
import { parseStored } from "../../lib/stored_json.ts";
import type { OptionalStage } from "../../platform/config/config.ts";
import { storedOutput, textFile } from "../tasks/stored_task.ts";
import { DRAMA_STAGES } from "../../model_types/drama.ts";
import type { DramaJob, Roles, Script } from "./drama.ts";
import type { TextJob } from "./write_text.ts";

/**
 * Schemas of what dramas store: their jobs and those of their text subtasks. Fields that earlier versions did not
 * write have defaults. Texts are loose: an operator's schema may ask for further fields.
 */

const script: z.ZodType<Script> = z.looseObject({
  synopsis: z.string().default(""),
  scenes: z.array(z.looseObject({
    heading: z.string(),
    action: z.string(),
    dialogue: z.array(z.looseObject({ character: z.string(), line: z.string() })).default([]),
  })),
});

const roles: z.ZodType<Roles> = z.looseObject({
  characters: z.array(z.looseObject({ name: z.string(), looks: z.string().default("") })),
});

const characters = z.array(z.object({ name: z.string(), file_id: z.string().optional() }))
  .default([]);

const jsonSchema = z.record(z.string(), z.unknown());

function optionalStage<Stage>(shape: z.ZodType<Stage>): z.ZodType<OptionalStage<Stage>> {
  return z.union([
    z.intersection(z.object({ offered: z.literal(true) }), shape),
    z.object({ offered: z.literal(false) }),
  ]);
}

const textStage = z.object({
  model: z.string(),
  prompt: z.string(),
  schema: jsonSchema.nullable().default(null),
  maxOutputTokens: z.number().int().min(1),
});

const storyboardStage = z.object({
  model: z.string(),
  prompt: z.string(),
  size: z.string().nullable().default(null),
});

const speechStage = z.object({
  model: z.string(),
  voices: z.array(z.string()).default([]),
  charactersMax: z.number().int().min(1),
});

const videoStage = z.object({
  model: z.string(),
  prompt: z.string(),
  duration: z.number(),
  speech: optionalStage(speechStage).default({ offered: false }),
});

const byShot = z.record(z.string().regex(/^[1-9]\d*$/), storedOutput).optional();

const dramaJob: z.ZodType<DramaJob> = z.object({
  title: z.string(),
  script: z.string(),
  episode: z.number().int().default(1),
  aspect_ratio: z.string().nullable().default(null),
  characters,
  until: z.enum(DRAMA_STAGES),
  shots_max: z.number().int().min(1),
  pipeline: z.object({
    script: textStage,
    roles: optionalStage(textStage),
    storyboard: optionalStage(storyboardStage),
    video: optionalStage(videoStage),
    shotsMin: z.number().int().min(1).default(1),
    tries: z.number().int().min(1).default(3),
    shotsAtOnce: z.number().int().min(1).default(4),
  }),
  prices: z.record(z.string(), storedPrice),
  without_quota: z.array(z.string()).optional(),
  given: z.object({
    script: script.optional(),
    roles: roles.optional(),
    texts: z.object({ script: textFile.optional(), roles: textFile.optional() }).optional(),
    images: byShot,
    videos: byShot,
    lines: byShot,
  }).default({}),
});

const textJob: z.ZodType<TextJob> = z.object({
  stage: z.enum(["script", "roles"]),
  prompt: z.string(),
  schema: jsonSchema,
  max_output_tokens: z.number().int().min(1),
  tries: z.number().int().min(1),
  characters,
});

export function parseDramaJob(stored: unknown): DramaJob {
  return parseStored(dramaJob, "drama job", stored);
}

export function parseTextJob(stored: unknown): TextJob {
  return parseStored(textJob, "text job", stored);
}

export function parseScript(stored: unknown): Script {
  return parseStored(script, "script", stored);
}

export function parseRoles(stored: unknown): Roles {
  return parseStored(roles, "roles", stored);
}
