import type { Annotation, ToolCall, ToolCallDelta } from "../../src/upstream/adapter.ts";
import { callId } from "./call_id.ts";
import { compact, count, type Json, record, records, text } from "./json.ts";

/** The allow-list for OpenAI's format: each function copies only the fields that clients may see. */

export function toolCalls(value: unknown, replyId: unknown): ToolCall[] {
  return records(value).flatMap((call, at) => {
    const called = functionOf(call.function);
    if (called === null) return [];
    return [{ id: text(call.id) ?? callId(replyId, at), type: "function", function: called }];
  });
}

export function functionOf(value: unknown): { name: string; arguments: string } | null {
  const called = record(value);
  const name = text(called?.name);
  if (called === null || name === null) return null;
  return { name, arguments: argumentsOf(called.arguments) ?? "{}" };
}

/** Arguments as text; some servers send them as an object. */
function argumentsOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return record(value) === null ? undefined : JSON.stringify(value);
}

export function toolCallDeltas(value: unknown): ToolCallDelta[] {
  return records(value).map((call, at) => {
    const piece = functionDelta(call.function);
    return compact({
      index: count(call.index) ?? at,
      id: text(call.id) ?? undefined,
      type: call.type === "function" ? "function" as const : undefined,
      function: piece ?? undefined,
    });
  });
}

export function functionDelta(value: unknown): { name?: string; arguments?: string } | null {
  const piece = record(value);
  if (piece === null) return null;
  return compact({
    name: text(piece.name) ?? undefined,
    arguments: argumentsOf(piece.arguments),
  });
}

export function logprobs(value: unknown): unknown {
  const given = record(value);
  if (given === null) return value === null ? null : undefined;
  return {
    content: tokens(given.content),
    refusal: tokens(given.refusal),
  };
}

function tokens(value: unknown): unknown {
  if (!Array.isArray(value)) return null;
  return records(value).map((token) => ({
    ...oneToken(token),
    top_logprobs: records(token.top_logprobs).map(oneToken),
  }));
}

const oneToken = ({ token, logprob, bytes }: Json) => ({ token, logprob, bytes: bytes ?? null });

/** Citations of a model that searches the web. */
export function annotations(value: unknown): Annotation[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return records(value).flatMap(({ type, url_citation }) => {
    const cited = record(url_citation);
    if (type !== "url_citation" || cited === null) return [];
    const { url, title, start_index, end_index } = cited;
    return [{ type, url_citation: { url, title, start_index, end_index } }];
  });
}

export function audio(value: unknown): unknown {
  const given = record(value);
  if (given === null) return undefined;
  const { id, data, expires_at, transcript } = given;
  return compact({ id, data, expires_at, transcript });
}
