import type { Choice, Piece } from "./compose.ts";

/** The fields of an answer besides its choices. */
export interface AnswerEnvelope {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  /** How many alternatives are listed for each token; null where no probabilities were requested. */
  readonly topLogprobs: number | null;
  readonly usage: ReportedUsage | null;
  /** Whether events mention usage at all. */
  readonly includeUsage: boolean;
}

export interface ReportedUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly audio_tokens: number };
  readonly completion_tokens_details: {
    readonly reasoning_tokens: number;
    readonly audio_tokens: number;
    readonly accepted_prediction_tokens: number;
    readonly rejected_prediction_tokens: number;
  };
}

/** One event of a stream. The directive `pace` applies to tokens. */
export interface ChatEvent {
  readonly data: string;
  readonly isToken: boolean;
}

const encoder = new TextEncoder();

export function usageOf(choices: readonly Choice[], prompt: number, cached: number): ReportedUsage {
  let [completion, reasoning] = [0, 0];
  for (const { pieces } of choices) {
    completion += pieces.length;
    for (const piece of pieces) if (piece.kind === "reasoning") reasoning++;
  }
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** The body of an answer that is not streamed. */
export function wholeAnswer(choices: readonly Choice[], envelope: AnswerEnvelope): string {
  return JSON.stringify({
    id: envelope.id,
    object: "chat.completion",
    created: envelope.created,
    model: envelope.model,
    choices: choices.map(({ index, pieces, finish }) => ({
      index,
      message: messageOf(pieces),
      logprobs: logprobsOf(pieces, envelope.topLogprobs),
      finish_reason: finish,
    })),
    ...(envelope.usage === null ? {} : { usage: envelope.usage }),
    service_tier: "default",
    system_fingerprint: "fp_simulator",
  });
}

function messageOf(pieces: readonly Piece[]) {
  const reasoning = textOf(pieces, "reasoning");
  const calls = pieces.filter((piece) => piece.kind === "call").map(({ call, id, name }) => ({
    id,
    type: "function",
    function: {
      name,
      arguments: pieces.map((piece) =>
        piece.kind === "arguments" && piece.call === call ? piece.text : ""
      ).join(""),
    },
  }));
  return {
    role: "assistant",
    content: calls.length > 0 ? null : textOf(pieces, "content"),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    refusal: null,
    annotations: [],
  };
}

function textOf(pieces: readonly Piece[], kind: "reasoning" | "content"): string {
  return pieces.map((piece) => piece.kind === kind ? piece.text : "").join("");
}

/** The events of an answer that is streamed, `[DONE]` included; several choices take turns. */
export function answerEvents(choices: readonly Choice[], envelope: AnswerEnvelope): ChatEvent[] {
  const head = JSON.stringify({
    id: envelope.id,
    object: "chat.completion.chunk",
    created: envelope.created,
    model: envelope.model,
    service_tier: "default",
    system_fingerprint: "fp_simulator",
  }).slice(0, -1);
  const tail = envelope.includeUsage ? ',"usage":null}' : "}";
  const event = (index: number, delta: unknown, logprobs: unknown, finish: string | null) =>
    `${head},"choices":[${
      JSON.stringify({ index, delta, logprobs, finish_reason: finish })
    }]${tail}`;

  const events: ChatEvent[] = [];
  const add = (data: string, isToken = false) => events.push({ data, isToken });
  for (const choice of choices) add(event(choice.index, openingOf(choice), null, null));
  const longest = Math.max(...choices.map((choice) => choice.pieces.length));
  for (let at = 0; at <= longest; at++) {
    for (const { index, pieces, finish } of choices) {
      const piece = pieces[at];
      if (piece !== undefined) {
        const logprobs = logprobsOf([piece], envelope.topLogprobs);
        add(event(index, deltaOf(piece), logprobs, null), true);
      } else if (at === pieces.length) add(event(index, {}, null, finish));
    }
  }
  if (envelope.includeUsage && envelope.usage !== null) {
    add(`${head},"choices":[],"usage":${JSON.stringify(envelope.usage)}}`);
  }
  add("[DONE]");
  return events;
}

function openingOf({ pieces }: Choice) {
  const callsTools = pieces.some((piece) => piece.kind === "call");
  return { role: "assistant", content: callsTools ? null : "", refusal: null };
}

function deltaOf(piece: Piece) {
  switch (piece.kind) {
    case "content":
      return { content: piece.text };
    case "reasoning":
      return { reasoning_content: piece.text };
    case "call": {
      const called = { name: piece.name, arguments: "" };
      return {
        tool_calls: [{ index: piece.call, id: piece.id, type: "function", function: called }],
      };
    }
    case "arguments":
      return { tool_calls: [{ index: piece.call, function: { arguments: piece.text } }] };
  }
}

/** Fixed probabilities, with one alternative token at most. */
function logprobsOf(pieces: readonly Piece[], top: number | null) {
  if (top === null) return null;
  const content = [];
  for (const piece of pieces) {
    if (piece.kind !== "content") continue;
    const chosen = tokenLogprob(piece.text, -0.01);
    content.push({ ...chosen, top_logprobs: [chosen, tokenLogprob(" …", -5)].slice(0, top) });
  }
  return { content, refusal: null };
}

function tokenLogprob(token: string, logprob: number) {
  return { token, logprob, bytes: [...encoder.encode(token)] };
}
