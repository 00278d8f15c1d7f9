import { z } from "zod";
import { ApiError } from "../../lib/api_error.ts";
import type { Model } from "../../platform/config/config.ts";

export type Body = Record<string, unknown>;
export type Fields = Readonly<Record<string, string>>;

/** The API request of a playground form. The API checks it. */
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

/** The messages of a chat request: the conversation so far, which the form carries, and the new prompt. */
export function messagesOf({ history, system, prompt = "" }: Fields): PlaygroundMessage[] {
  const before = readHistory(history);
  const added: PlaygroundMessage[] = prompt === "" ? [] : [{ role: "user", content: prompt }];
  const instructions: PlaygroundMessage[] = system === undefined || system.trim() === ""
    ? []
    : [{ role: "system", content: system }];
  return [...instructions, ...before, ...added];
}

const History = z.array(z.object({
  role: z.enum(["user", "assistant"]),
  content: z.string(),
}));

export function readHistory(history: string | undefined): PlaygroundMessage[] {
  if (history === undefined || history === "") return [];
  const read = History.safeParse(parseJson(history));
  if (read.success) return read.data;
  throw new ApiError("invalid_value", "The conversation could not be read. Start a new one.");
}

/** Undefined where the text is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function text(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}

/** A number; anything else stays as it is, so that the API names the field in its error. */
function number(value: string | undefined): number | string | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  const read = Number(value);
  return Number.isFinite(read) ? read : value;
}

/** URLs or file ids, one per line. */
function list(value: string | undefined): string[] | undefined {
  const lines = (value ?? "").split(/\s+/).filter((line) => line !== "");
  return lines.length === 0 ? undefined : lines;
}
