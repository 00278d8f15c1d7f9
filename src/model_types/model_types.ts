import { avatar } from "./avatar.ts";
import { chat } from "./chat.ts";
import type { MediaModelType, ModelTypeDefinition } from "./definition.ts";
import { drama } from "./drama.ts";
import { embedding } from "./embedding.ts";
import { image } from "./image.ts";
import { speech } from "./speech.ts";
import { video } from "./video.ts";

/** The types of models by the names that the published API uses. What differs by type is asked here. */
const DEFINITIONS = { chat, image, video, avatar, drama, speech, embedding } as const;

export type ModelType = keyof typeof DEFINITIONS;

/** Types of models that make files, one job at one upstream each. */
export type MediaJobType = {
  [Type in ModelType]: (typeof DEFINITIONS)[Type] extends MediaModelType ? Type : never;
}[ModelType];

export const MODEL_TYPES = Object.keys(DEFINITIONS) as readonly ModelType[];

export const CAPABILITIES = MODEL_TYPES.flatMap((type) => DEFINITIONS[type].capabilities);

export function definitionOf(type: ModelType): ModelTypeDefinition {
  return DEFINITIONS[type];
}

export function mediaDefinitionOf(type: MediaJobType): MediaModelType {
  return DEFINITIONS[type];
}

/** The definition of a type; null for anything that is not a model type. */
export function findDefinition(type: unknown): ModelTypeDefinition | null {
  return isModelType(type) ? DEFINITIONS[type] : null;
}

export function isModelType(type: unknown): type is ModelType {
  return typeof type === "string" && Object.hasOwn(DEFINITIONS, type);
}

export function isMediaType(type: unknown): type is MediaJobType {
  return findDefinition(type)?.work === "media";
}

/** Types whose requests are tasks, which outlive the response. */
export const TASK_TYPES: readonly ModelType[] = MODEL_TYPES.filter((type) =>
  isMediaType(type) || isPipeline(type)
);

/** Types of the tasks that clients see: a response in the background is a task too. */
export const SHOWN_TASK_TYPES: readonly ModelType[] = [...TASK_TYPES, "chat"];

/** Whether tasks of a type are made of tasks of other models. */
export function isPipeline(type: unknown): boolean {
  return findDefinition(type)?.work === "pipeline";
}

/** "an image model", "a video model". */
export function modelWithArticle(type: unknown): string {
  return `${/^[aeiou]/.test(String(type)) ? "an" : "a"} ${type} model`;
}
