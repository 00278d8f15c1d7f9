import { z } from "zod";
import { ApiError } from "../../../lib/api_error.ts";
import type { Fields } from "./fields.ts";

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
