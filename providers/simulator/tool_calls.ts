import type { JsonObject } from "./fields.ts";
import type { SeededRandom } from "./random.ts";
import type { Message } from "./messages.ts";
import type { SimulatedChat, SimulatedTool } from "./read_request.ts";
import { instanceOf } from "./schema_instance.ts";
import { UnsatisfiableSchema } from "./schema_values.ts";
import { WireError } from "./wire_error.ts";

export interface ComposedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * The tools that the answer calls: those whose calls the user's last message spells out, else those whose names are in
 * it; the first one where a call is required and no tool is named; none where the last message is a tool's. System
 * messages do not count.
 */
export function toolsToCall(chat: SimulatedChat, prompt: string): SimulatedTool[] {
  const { mode, names } = chat.toolChoice;
  if (mode === "none") return [];
  const allowed = names === null
    ? chat.tools
    : chat.tools.filter((tool) => names.includes(tool.name));
  const last = chat.messages.findLast(({ role }) => role !== "system" && role !== "developer");
  const isUsersTurn = last?.role === "user";
  const isAsked = mode === "required" || isUsersTurn;
  const written = allowed.filter((tool) => prompt.includes(`${tool.name}({`));
  const named = !isAsked
    ? []
    : written.length > 0
    ? written
    : allowed.filter((tool) => mentions(prompt, tool.name));
  const called = named.length === 0 && mode === "required" ? allowed.slice(0, 1) : named;
  return chat.parallelCalls ? called : called.slice(0, 1);
}

/** What arguments are made of: the user's message, and its words. */
export interface CallSource {
  readonly prompt: string;
  readonly words: readonly string[];
}

/** A call with the arguments that the message has for it, else with some that the tool's schema accepts. */
export function callOf(
  tool: SimulatedTool,
  { prompt, words }: CallSource,
  random: SeededRandom,
): ComposedCall {
  try {
    const args = writtenArguments(prompt, tool.name) ??
      instanceOf(tool.parameters, wordsFor(tool, words), random);
    return {
      id: `call_${random.letters(24)}`,
      name: tool.name,
      arguments: JSON.stringify(args),
    };
  } catch (error) {
    if (!(error instanceof UnsatisfiableSchema)) throw error;
    throw new WireError(
      400,
      `Invalid schema for function '${tool.name}': ${error.message}.`,
      "tools",
      "invalid_function_parameters",
    );
  }
}

/** The arguments of a call that the message spells out, as in `read({"path": "note.txt"})`; null if it does not. */
function writtenArguments(prompt: string, name: string): JsonObject | null {
  const start = prompt.indexOf(`${name}({`);
  if (start === -1) return null;
  const json = start + name.length + 1;
  for (let end = prompt.indexOf("})", json); end !== -1; end = prompt.indexOf("})", end + 1)) {
    try {
      return JSON.parse(prompt.slice(json, end + 1));
    } catch {
      // A bracket inside of a text: the end is further on.
    }
  }
  return null;
}

/** Words for a call's arguments: names rather than other words, without the tool's own name. */
function wordsFor(tool: SimulatedTool, words: readonly string[]): readonly string[] {
  const others = words.filter((word) => !tool.name.toLowerCase().includes(word.toLowerCase()));
  const names = others.filter((word) => /^\p{Lu}/u.test(word) && !mentions(tool.description, word));
  return names.length > 0 ? names : others.length > 0 ? others : words;
}

/** The results of the last tool calls, with the tools' names. */
export function toolResults(messages: readonly Message[]): { tool: string; text: string }[] {
  const spoken = messages.filter(({ role }) => role !== "system" && role !== "developer");
  const last = spoken.findLastIndex((message) => message.role !== "tool");
  const calls = spoken[last]?.calls ?? [];
  return spoken.slice(last + 1).map((message) => ({
    tool: calls.find((call) => call.id === message.answers)?.name ?? "unknown",
    text: message.text,
  }));
}

/** Whether a text has a name as whole words, with underscores or spaces between them. */
function mentions(text: string, name: string): boolean {
  const [words, wanted] = [text, name].map((one) =>
    ` ${one.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()} `
  );
  return words!.includes(wanted!);
}
