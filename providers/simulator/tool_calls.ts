import type { Chance } from "./chance.ts";
import type { Message } from "./messages.ts";
import type { ChatAsk, Tool } from "./read_request.ts";
import { instanceOf } from "./schema_instance.ts";
import { Unsatisfiable } from "./schema_values.ts";
import { WireError } from "./wire_error.ts";

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * The tools that the answer calls: those whose names the user just wrote; where one must be called and
 * none was named, the first; none where the last word is a tool's answer.
 */
export function toolsToCall(ask: ChatAsk, prompt: string): Tool[] {
  const { mode, names } = ask.toolChoice;
  if (mode === "none") return [];
  const allowed = names === null
    ? ask.tools
    : ask.tools.filter((tool) => names.includes(tool.name));
  const isUsersTurn = ask.messages.at(-1)!.role === "user";
  const named = mode === "required" || isUsersTurn
    ? allowed.filter((tool) => mentions(prompt, tool.name))
    : [];
  const called = named.length === 0 && mode === "required" ? allowed.slice(0, 1) : named;
  return ask.parallelCalls ? called : called.slice(0, 1);
}

/** A call with arguments that the tool's schema accepts. */
export function callOf(tool: Tool, words: readonly string[], chance: Chance): Call {
  try {
    const args = instanceOf(tool.parameters, wordsFor(tool, words), chance);
    return {
      id: `call_${chance.letters(24)}`,
      name: tool.name,
      arguments: JSON.stringify(args),
    };
  } catch (error) {
    if (!(error instanceof Unsatisfiable)) throw error;
    throw new WireError(
      400,
      `Invalid schema for function '${tool.name}': ${error.message}.`,
      "tools",
      "invalid_function_parameters",
    );
  }
}

/** What a call is likely to be about: names rather than other words, and not the tool itself. */
function wordsFor(tool: Tool, words: readonly string[]): readonly string[] {
  const others = words.filter((word) => !tool.name.toLowerCase().includes(word.toLowerCase()));
  const names = others.filter((word) => /^\p{Lu}/u.test(word) && !mentions(tool.description, word));
  return names.length > 0 ? names : others.length > 0 ? others : words;
}

/** What tools answered since the last call, with their names. */
export function toolResults(messages: readonly Message[]): { tool: string; text: string }[] {
  const last = messages.findLastIndex((message) => message.role !== "tool");
  const calls = messages[last]?.calls ?? [];
  return messages.slice(last + 1).map((message) => ({
    tool: calls.find((call) => call.id === message.answers)?.name ?? "unknown",
    text: message.text,
  }));
}

/** Whether a name stands in a text as a word of its own, also with spaces for its underscores. */
function mentions(text: string, name: string): boolean {
  const [words, wanted] = [text, name].map((one) =>
    ` ${one.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()} `
  );
  return words!.includes(wanted!);
}
