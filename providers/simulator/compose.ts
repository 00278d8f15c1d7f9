import { type Chance, chanceFrom } from "./chance.ts";
import type { Orders } from "./directives.ts";
import type { ChatAsk } from "./read_request.ts";
import { instanceOf } from "./schema_instance.ts";
import { Unsatisfiable } from "./schema_values.ts";
import { storyFor } from "./compose_text.ts";
import { proseOn, reasoningOn, type Topic, wordsOf } from "./text.ts";
import { tokenize } from "./tokens.ts";
import { callOf, toolResults, toolsToCall } from "./tool_calls.ts";
import { WireError } from "./wire_error.ts";

/** One token of an answer, with what it belongs to. A call's opening counts as one, whatever its name. */
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
export function compose(ask: ChatAsk, prompt: string, orders: Orders): Choice[] {
  if ((orders.tokens ?? 0) * ask.n > TOKENS_MAX) {
    throw new WireError(400, `Cannot simulate: ${TOKENS_MAX} tokens are the most.`, "n");
  }
  const said = ask.messages.map(({ role, text }) => `${role}: ${text}`);
  // The orders are no part of what was said: with and without them the words are the same.
  const last = ask.messages.findLastIndex((message) => message.role === "user");
  if (last >= 0) said[last] = `user: ${prompt}`;
  const conversation = `${ask.seed ?? ""} ${said.join("\n")}`;
  return Array.from({ length: ask.n }, (_, index) => {
    const topic: Topic = {
      seed: `${index} ${conversation}`,
      prompt,
      images: ask.messages[last]?.images ?? 0,
      files: ask.messages[last]?.files ?? 0,
      results: toolResults(ask.messages),
    };
    return composeOne(ask, topic, index, orders);
  });
}

function composeOne(ask: ChatAsk, topic: Topic, index: number, orders: Orders): Choice {
  const chance = chanceFrom(`${topic.seed} instance`);
  const words = wordsOf(topic.prompt);
  const called = toolsToCall(ask, topic.prompt);
  const pieces: Piece[] = ask.reasons ? reasoningPieces(topic, ask.effort) : [];
  for (const [at, tool] of called.entries()) {
    const call = callOf(tool, words, chance);
    pieces.push({ kind: "call", call: at, id: call.id, name: call.name });
    pieces.push(
      ...tokenize(call.arguments).map((text) => ({ kind: "arguments", call: at, text }) as const),
    );
  }
  if (called.length === 0) {
    pieces.push(
      ...contentTokens(ask, topic, index, chance, orders).map((text) =>
        ({ kind: "content", text }) as const
      ),
    );
  }
  const kept = pieces.slice(0, ask.tokensMax);
  const stopped = cutAtStop(kept, ask.stops);
  if (stopped !== null) return { index, pieces: stopped, finish: "stop" };
  if (kept.length < pieces.length) return { index, pieces: kept, finish: "length" };
  return { index, pieces: kept, finish: called.length > 0 ? "tool_calls" : "stop" };
}

function reasoningPieces(topic: Topic, effort: string | null): Piece[] {
  return tokenize(reasoningOn(topic, effort)).map((text) => ({ kind: "reasoning", text }));
}

function contentTokens(
  ask: ChatAsk,
  topic: Topic,
  index: number,
  chance: Chance,
  orders: Orders,
): string[] {
  if (ask.format !== null) return tokenize(JSON.stringify(jsonFor(ask.format, topic, chance)));
  const tokens = tokenize(proseOn(topic, orders.tokens)).slice(0, orders.tokens);
  if (orders.huge !== undefined && index === 0) tokens.splice(1, 0, "o".repeat(orders.huge));
  return tokens;
}

function jsonFor(format: NonNullable<ChatAsk["format"]>, topic: Topic, chance: Chance): unknown {
  const words = wordsOf(topic.prompt);
  if (format === "json") return { answer: proseOn(topic), words, simulated: true };
  try {
    return storyFor(format.schema, topic.prompt, chance) ??
      instanceOf(format.schema, words, chance);
  } catch (error) {
    if (!(error instanceof Unsatisfiable)) throw error;
    throw new WireError(
      400,
      `Invalid schema for response_format '${format.name}': ${error.message}.`,
      "response_format",
      "invalid_json_schema",
    );
  }
}

/** The answer as far as the first stop sequence in its text; null where there is none. */
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
