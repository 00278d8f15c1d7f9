import { fillIn } from "../../platform/config/template.ts";
import type { TaskJob } from "../../model_types/definition.ts";
import {
  type Character,
  type DramaJob,
  requireStage,
  type Roles,
  type Scene,
  type Script,
} from "./drama.ts";
import { nameKey } from "./texts.ts";

/** The shot that a subtask makes, and the texts it is made from. */
export interface ShotContext {
  readonly job: DramaJob;
  readonly script: Script;
  readonly roles: Roles;
  /** Counts from 1. */
  readonly shot: number;
}

/** Limits of a stage's model on what it is sent. */
export interface InputLimits {
  readonly promptMax: number;
  readonly imagesMax: number;
}

export function textPrompt(job: DramaJob, template: string, script: Script | null): string {
  return fillIn(template, {
    title: job.title,
    script: job.script,
    characters: job.characters.map(({ name }) => name).join(", ") || "as the text has them",
    episode: job.episode,
    aspect_ratio: job.aspect_ratio ?? "",
    shots_min: job.pipeline.shotsMin,
    shots_max: job.shots_max,
    scenes: script === null ? "" : JSON.stringify(script.scenes),
  });
}

/** The image of a shot, with the reference images of the characters in it. */
export function imageJob(context: ShotContext, limits: InputLimits): TaskJob {
  const { prompt, size } = requireStage(context.job.pipeline.storyboard, "storyboard");
  const references = castOf(context).flatMap(({ file_id }) =>
    file_id === undefined ? [] : [file_id]
  );
  return {
    prompt: shorten(shotPrompt(context, prompt), limits.promptMax),
    parameters: imageParameters(size),
    inputs: references.slice(0, limits.imagesMax).map((file_id) => ({ role: "image", file_id })),
  };
}

/** The video of a shot, made from its image where the model can. */
export function videoJob(
  context: ShotContext,
  image: string | null,
  limits: InputLimits,
): TaskJob {
  const { prompt, duration } = requireStage(context.job.pipeline.video, "video");
  const { aspect_ratio } = context.job;
  return {
    prompt: shorten(shotPrompt(context, prompt), limits.promptMax),
    parameters: videoParameters(duration, aspect_ratio),
    inputs: image === null || limits.imagesMax === 0 ? [] : [{ role: "image", file_id: image }],
  };
}

/** The lines of a shot, to be spoken; null where it has none. */
export function lineJob({ job, script, roles, shot }: ShotContext): TaskJob | null {
  const { voices, charactersMax } = requireStage(
    requireStage(job.pipeline.video, "video").speech,
    "speech",
  );
  const { dialogue } = script.scenes[shot - 1]!;
  const text = dialogue.map(({ line }) => line.trim()).filter((line) => line !== "").join(" ");
  if (text === "") return null;
  const prompt = shorten(text, charactersMax);
  const speaker = nameKey(dialogue[0]!.character);
  const place = roles.characters.findIndex(({ name }) => nameKey(name) === speaker);
  const voice = voices[Math.max(0, place) % Math.max(1, voices.length)];
  return {
    prompt,
    parameters: speechParameters(voice),
    inputs: [],
  };
}

/** What the image, the video and the lines of a shot are asked with; prices may depend on it. */
export function imageParameters(size: string | null) {
  return { n: 1, ...(size === null ? {} : { size }) };
}

export function videoParameters(duration: number, aspect_ratio: string | null) {
  return { duration, ...(aspect_ratio === null ? {} : { aspect_ratio }) };
}

export function speechParameters(voice: string | undefined) {
  return { response_format: "mp3", ...(voice === undefined ? {} : { voice }) };
}

function shotPrompt(context: ShotContext, template: string): string {
  const { job, script, roles, shot } = context;
  const { heading, action } = script.scenes[shot - 1]!;
  const looks = castOf(context).map(({ name }) => {
    const role = roles.characters.find((role) => nameKey(role.name) === nameKey(name));
    return role === undefined || role.looks === "" ? "" : `${name}: ${role.looks}.`;
  }).filter((text) => text !== "").join(" ");
  return fillIn(template, {
    title: job.title,
    heading,
    action,
    looks,
    shot,
    shots: script.scenes.length,
    aspect_ratio: job.aspect_ratio ?? "",
  });
}

/** The characters in a shot: those who speak in it or are named in its heading or action. */
function castOf({ job, roles, script, shot }: ShotContext): Character[] {
  const scene = script.scenes[shot - 1]!;
  const all = new Map<string, Character>();
  for (const { name } of roles.characters) all.set(nameKey(name), { name });
  for (const character of job.characters) all.set(nameKey(character.name), character);
  return [...all.values()].filter(({ name }) => isIn(scene, name));
}

function isIn({ action, heading, dialogue }: Scene, name: string): boolean {
  const key = nameKey(name);
  return dialogue.some(({ character }) => nameKey(character) === key) ||
    nameKey(`${heading} ${action}`).includes(key);
}

/** Cuts by code points, so that no character is split. */
function shorten(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return [...text].slice(0, charactersMax).join("");
}
