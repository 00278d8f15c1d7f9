import type {
  ChatChunk,
  ChatReader,
  ChunkChoice,
  ChunkDelta,
  FinishReason,
  ReportedUsage,
  ServerSentEvent,
  ToolCallDelta,
} from "../../src/upstream/adapter.ts";
import { compact, count, type Json, record, records } from "../dialect/json.ts";
import { faultOfError } from "./fault.ts";
import { endingOf, isBlocked, logprobsOf, partsOf, toolCall, usageOf } from "./reply.ts";

/** The progress of one answer of a stream. */
interface Progress {
  started: boolean;
  finished: boolean;
  calls: number;
}

/** Reads one stream of answers. It has no final event: it is complete when all answers are finished. */
export class ContentReader implements ChatReader {
  readonly #answers = new Map<number, Progress>();

  next({ data }: ServerSentEvent): ChatChunk | null {
    const piece = data === "" ? null : record(JSON.parse(data));
    if (piece === null) return null;
    const error = record(piece.error);
    if (error !== null) return { choices: [], fault: faultOfError(0, error) };

    const choices: ChunkChoice[] = [];
    for (const candidate of records(piece.candidates)) {
      const index = count(candidate.index) ?? 0;
      const progress = this.#progress(index);
      const delta = deltaOf(candidate, piece.responseId, index, progress);
      const ending = endingOf(candidate.finishReason, progress.calls > 0);
      if (typeof ending === "object" && ending !== null) {
        return { choices: [], fault: { kind: ending.fault } };
      }
      if (ending !== null) progress.finished = true;
      const choice = choiceOf(candidate, index, delta, ending);
      if (choice !== null) choices.push(choice);
    }
    if (isBlocked(piece)) choices.push(this.#blocked());
    return this.#chunk(piece, choices);
  }

  #progress(index: number): Progress {
    const known = this.#answers.get(index);
    if (known !== undefined) return known;
    const progress = { started: false, finished: false, calls: 0 };
    this.#answers.set(index, progress);
    return progress;
  }

  #blocked(): ChunkChoice {
    this.#progress(0).finished = true;
    return { index: 0, delta: { role: "assistant" }, finish_reason: "content_filter" };
  }

  #chunk(piece: Json, choices: ChunkChoice[]): ChatChunk | null {
    const answers = [...this.#answers.values()];
    const isFinished = answers.length > 0 && answers.every(({ finished }) => finished);
    const usage = countedUsage(piece, isFinished);
    if (choices.length === 0 && usage === undefined) return null;
    const done = isFinished && choices.length > 0 ? true : undefined;
    return compact<ChatChunk>({ choices, usage, done });
  }
}

/** Every event has the counts so far; counts without the answer's tokens are ignored. */
function countedUsage(piece: Json, isFinished: boolean): ReportedUsage | undefined {
  const usage = usageOf(piece);
  if (usage === null) return undefined;
  return isFinished || usage.output + usage.reasoning > 0 ? usage : undefined;
}

function choiceOf(
  candidate: Json,
  index: number,
  delta: ChunkDelta,
  finish_reason: FinishReason | null,
): ChunkChoice | null {
  const logprobs = logprobsOf(candidate);
  const isEmpty = Object.keys(delta).length === 0 && finish_reason === null;
  if (isEmpty && logprobs === undefined) return null;
  return compact({ index, delta, finish_reason, logprobs });
}

function deltaOf(
  candidate: Json,
  replyId: unknown,
  index: number,
  progress: Progress,
): ChunkDelta {
  const role = progress.started ? undefined : "assistant";
  progress.started = true;
  let [content, thoughts] = ["", ""];
  const calls: ToolCallDelta[] = [];
  for (const part of partsOf(candidate)) {
    const call = record(part.functionCall);
    if (call !== null) {
      const nth = progress.calls++;
      calls.push({ index: nth, ...toolCall(call, replyId, index, nth) });
    } else if (typeof part.text === "string") {
      if (part.thought === true) thoughts += part.text;
      else content += part.text;
    }
  }
  return compact({
    role,
    content: content === "" ? undefined : content,
    reasoning_content: thoughts === "" ? undefined : thoughts,
    tool_calls: calls.length > 0 ? calls : undefined,
  });
}
