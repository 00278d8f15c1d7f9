import { ApiError } from "../../lib/api_error.ts";
import type { Model } from "../../platform/config/config.ts";

export type Body = Record<string, unknown>;
export type Fields = Readonly<Record<string, string>>;

/** What a form of the playground asks the API for. Checking it is the API's part. */
export function bodyOf(model: Model, fields: Fields): Body {
  const body = WRITERS[model.type](fields);
  return Object.fromEntries(
    Object.entries({ model: model.id, ...body }).filter(([, value]) => value !== undefined),
  );
}

const WRITERS: Readonly<Record<Model["type"], (fields: Fields) => Body>> = {
  chat: (fields) => ({
    messages: messagesOf(fields),
    temperature: number(fields.temperature),
    max_completion_tokens: number(fields.max_completion_tokens),
  }),
  image: (fields) => ({
    prompt: fields.prompt ?? "",
    size: text(fields.size),
    n: number(fields.n),
    input_images: list(fields.input_images),
  }),
  video: (fields) => ({
    prompt: fields.prompt ?? "",
    duration: number(fields.duration),
    aspect_ratio: text(fields.aspect_ratio),
    input_images: list(fields.input_images),
  }),
  avatar: (fields) => ({
    avatar_file_id: text(fields.avatar_file_id),
    audio_file_id: text(fields.audio_file_id),
    aspect_ratio: text(fields.aspect_ratio),
  }),
  drama: (fields) => ({
    title: text(fields.title),
    script: text(fields.script),
    episode: number(fields.episode),
    aspect_ratio: text(fields.aspect_ratio),
    stage: text(fields.stage),
    from_task: text(fields.from_task),
    business_id: text(fields.business_id),
  }),
  speech: (fields) => ({
    input: fields.input ?? "",
    voice: text(fields.voice),
    response_format: text(fields.response_format),
    speed: number(fields.speed),
  }),
};

export interface PlaygroundMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** The conversation so far, kept in the form, and what is said now. */
export function messagesOf({ history, system, prompt = "" }: Fields): PlaygroundMessage[] {
  const before = readHistory(history);
  const said: PlaygroundMessage[] = prompt === "" ? [] : [{ role: "user", content: prompt }];
  const rules: PlaygroundMessage[] = system === undefined || system.trim() === ""
    ? []
    : [{ role: "system", content: system }];
  return [...rules, ...before, ...said];
}

export function readHistory(history: string | undefined): PlaygroundMessage[] {
  if (history === undefined || history === "") return [];
  try {
    const read = JSON.parse(history) as unknown;
    if (Array.isArray(read)) {
      return read.filter((each): each is PlaygroundMessage =>
        (each?.role === "user" || each?.role === "assistant") && typeof each.content === "string"
      ).map(({ role, content }) => ({ role, content }));
    }
  } catch {
    // Said below.
  }
  throw new ApiError("invalid_value", "The conversation could not be read: start a new one.");
}

function text(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}

/** A number where there is one; anything else as it is, for the API to refuse by name. */
function number(value: string | undefined): number | string | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  const read = Number(value);
  return Number.isFinite(read) ? read : value;
}

/** One address a line. */
function list(value: string | undefined): string[] | undefined {
  const lines = (value ?? "").split(/\s+/).filter((line) => line !== "");
  return lines.length === 0 ? undefined : lines;
}
