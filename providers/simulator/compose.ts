import { type SeededRandom, seededRandom } from "./random.ts";
import type { Directives } from "./directives.ts";
import type { SimulatedChat } from "./read_request.ts";
import { instanceOf } from "./schema_instance.ts";
import { UnsatisfiableSchema } from "./schema_values.ts";
import { screenplayFor } from "./screenplay.ts";
import { type ProseTopic, wordsOf, writeProse, writeReasoning } from "./text.ts";
import { tokenize } from "./tokens.ts";
import { callOf, toolResults, toolsToCall } from "./tool_calls.ts";
import { WireError } from "./wire_error.ts";

/** One token of an answer, with what it belongs to. The start of a tool call counts as one token. */
export type Piece =
  | { readonly kind: "reasoning" | "content"; readonly text: string }
  | { readonly kind: "call"; readonly call: number; readonly id: string; readonly name: string }
  | { readonly kind: "arguments"; readonly call: number; readonly text: string };

/** One of the answers to a request, token by token. */
export interface Choice {
  readonly index: number;
  readonly pieces: readonly Piece[];
  readonly finish: "stop" | "length" | "tool_calls";
}

const TOKENS_MAX = 100_000;

/** Writes the answers: the same request with the same seed always gets the same ones. */
export function compose(chat: SimulatedChat, prompt: string, directives: Directives): Choice[] {
  if ((directives.tokens ?? 0) * chat.n > TOKENS_MAX) {
    throw new WireError(400, `Cannot simulate: ${TOKENS_MAX} tokens are the most.`, "n");
  }
  const said = chat.messages.map(({ role, text }) => `${role}: ${text}`);
  // Directives are no part of the conversation: they do not change the text of the answer.
  const last = chat.messages.findLastIndex((message) => message.role === "user");
  if (last >= 0) said[last] = `user: ${prompt}`;
  const conversation = `${chat.seed ?? ""} ${said.join("\n")}`;
  return Array.from({ length: chat.n }, (_, index) => {
    const topic: ProseTopic = {
      seed: `${index} ${conversation}`,
      prompt,
      images: chat.messages[last]?.images ?? 0,
      files: chat.messages[last]?.files ?? 0,
      results: toolResults(chat.messages),
    };
    return composeOne(chat, topic, index, directives);
  });
}

function composeOne(
  chat: SimulatedChat,
  topic: ProseTopic,
  index: number,
  directives: Directives,
): Choice {
  const random = seededRandom(`${topic.seed} instance`);
  const words = wordsOf(topic.prompt);
  const called = toolsToCall(chat, topic.prompt);
  const pieces: Piece[] = chat.reasons ? reasoningPieces(topic, chat.effort) : [];
  for (const [at, tool] of called.entries()) {
    const call = callOf(tool, { prompt: topic.prompt, words }, random);
    pieces.push({ kind: "call", call: at, id: call.id, name: call.name });
    pieces.push(
      ...tokenize(call.arguments).map((text) => ({ kind: "arguments", call: at, text }) as const),
    );
  }
  if (called.length === 0) {
    pieces.push(
      ...(chat.format === null
        ? proseTokens(topic, index, directives)
        : tokenize(JSON.stringify(jsonFor(chat.format, topic, random))))
        .map((text) => ({ kind: "content", text }) as const),
    );
  }
  const kept = pieces.slice(0, chat.tokensMax);
  const stopped = cutAtStop(kept, chat.stops);
  if (stopped !== null) return { index, pieces: stopped, finish: "stop" };
  if (kept.length < pieces.length) return { index, pieces: kept, finish: "length" };
  return { index, pieces: kept, finish: called.length > 0 ? "tool_calls" : "stop" };
}

function reasoningPieces(topic: ProseTopic, effort: string | null): Piece[] {
  return tokenize(writeReasoning(topic, effort)).map((text) => ({ kind: "reasoning", text }));
}

function proseTokens(topic: ProseTopic, index: number, directives: Directives): string[] {
  const tokens = tokenize(writeProse(topic, directives.tokens)).slice(0, directives.tokens);
  if (directives.huge !== undefined && index === 0) {
    tokens.splice(1, 0, "o".repeat(directives.huge));
  }
  return tokens;
}

function jsonFor(
  format: NonNullable<SimulatedChat["format"]>,
  topic: ProseTopic,
  random: SeededRandom,
): unknown {
  const words = wordsOf(topic.prompt);
  if (format === "json") return { answer: writeProse(topic), words, simulated: true };
  try {
    return screenplayFor(format.schema, topic.prompt, random) ??
      instanceOf(format.schema, words, random);
  } catch (error) {
    if (!(error instanceof UnsatisfiableSchema)) throw error;
    throw new WireError(
      400,
      `Invalid schema for response_format '${format.name}': ${error.message}.`,
      "response_format",
      "invalid_json_schema",
    );
  }
}

/** The answer up to the first stop sequence in its text; null without one. */
function cutAtStop(pieces: readonly Piece[], stops: readonly string[]): Piece[] | null {
  if (stops.length === 0) return null;
  const text = pieces.map((piece) => piece.kind === "content" ? piece.text : "").join("");
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  if (found.length === 0) return null;
  let left = Math.min(...found);
  const kept: Piece[] = [];
  for (const piece of pieces) {
    if (piece.kind !== "content") {
      kept.push(piece);
      continue;
    }
    if (left > 0) kept.push({ kind: "content", text: piece.text.slice(0, left) });
    left -= piece.text.length;
  }
  return kept;
}
