import { fillIn } from "../../platform/config/template.ts";
import type { TaskJob } from "../tasks/task.ts";
import type { Character, DramaJob, Roles, Scene, Script } from "./drama.ts";
import { nameKey } from "./texts.ts";

/** What a stage knows of the shot it works on. */
export interface ShotContext {
  readonly job: DramaJob;
  readonly script: Script;
  readonly roles: Roles;
  /** Counts from 1. */
  readonly shot: number;
}

/** What the models of a stage can take. */
export interface StageAbility {
  readonly promptMax: number;
  readonly picturesMax: number;
}

export function textPrompt(job: DramaJob, template: string, script: Script | null): string {
  return fillIn(template, {
    title: job.title,
    script: job.script,
    characters: job.characters.map(({ name }) => name).join(", ") || "as the text has them",
    episode: job.episode,
    aspect_ratio: job.aspect_ratio ?? "",
    shots_min: job.chain.shotsMin,
    shots_max: job.shots_max,
    scenes: script === null ? "" : JSON.stringify(script.scenes),
  });
}

/** One picture of a shot, with the pictures of those who are in it. */
export function imageJob(context: ShotContext, ability: StageAbility): TaskJob {
  const { prompt, size } = context.job.chain.storyboard!;
  const references = castOf(context).flatMap(({ file_id }) =>
    file_id === undefined ? [] : [file_id]
  );
  return {
    prompt: shorten(shotPrompt(context, prompt), ability.promptMax),
    parameters: { n: 1, ...(size === null ? {} : { size }) },
    inputs: references.slice(0, ability.picturesMax).map((file_id) => ({ role: "image", file_id })),
  };
}

/** One clip of a shot, from its picture where the model can. */
export function videoJob(
  context: ShotContext,
  picture: string | null,
  ability: StageAbility,
): TaskJob {
  const { prompt, duration } = context.job.chain.video!;
  const { aspect_ratio } = context.job;
  return {
    prompt: shorten(shotPrompt(context, prompt), ability.promptMax),
    parameters: { duration, ...(aspect_ratio === null ? {} : { aspect_ratio }) },
    inputs: picture === null || ability.picturesMax === 0
      ? []
      : [{ role: "image", file_id: picture }],
  };
}

/** What is spoken in a shot; null where nothing is. */
export function lineJob({ job, script, roles, shot }: ShotContext): TaskJob | null {
  const { voices, charactersMax } = job.chain.video!.speech!;
  const { dialogue } = script.scenes[shot - 1]!;
  const words = dialogue.map(({ line }) => line.trim()).filter((line) => line !== "").join(" ");
  if (words === "") return null;
  const prompt = shorten(words, charactersMax);
  const speaker = nameKey(dialogue[0]!.character);
  const place = roles.characters.findIndex(({ name }) => nameKey(name) === speaker);
  const voice = voices[Math.max(0, place) % Math.max(1, voices.length)];
  return {
    prompt,
    parameters: { response_format: "mp3", ...(voice === undefined ? {} : { voice }) },
    inputs: [],
  };
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

/** Who is in a shot: those who speak in it or are named in what is seen. */
function castOf({ job, roles, script, shot }: ShotContext): Character[] {
  const scene = script.scenes[shot - 1]!;
  const everybody = new Map<string, Character>();
  for (const { name } of roles.characters) everybody.set(nameKey(name), { name });
  for (const character of job.characters) everybody.set(nameKey(character.name), character);
  return [...everybody.values()].filter(({ name }) => isIn(scene, name));
}

function isIn({ action, heading, dialogue }: Scene, name: string): boolean {
  const key = nameKey(name);
  return dialogue.some(({ character }) => nameKey(character) === key) ||
    nameKey(`${heading} ${action}`).includes(key);
}

/** At most so many characters; never half of one. */
function shorten(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return [...text].slice(0, charactersMax).join("");
}
