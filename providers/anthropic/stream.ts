import type {
  ChatChunk,
  ChatReader,
  ChunkDelta,
  FinishReason,
  ServerSentEvent,
} from "../../src/upstream/adapter.ts";
import { count, type Json, record, text } from "../dialect/json.ts";
import { faultOfError } from "./fault.ts";
import { endingOf, usageOf } from "./reply.ts";

interface OpenCall {
  /** Position among the answer's tool calls. */
  readonly index: number;
  /** Whether a delta with arguments was sent. */
  sent: boolean;
}

/** Reads one stream of message events. */
export class MessageReader implements ChatReader {
  /** Counts of the first event; the last event has only the counts that changed. */
  #usage: Json = {};
  /** Open tool calls by the index of their block; text and thinking blocks are counted too. */
  readonly #calls = new Map<number, OpenCall>();
  /** The signature of the open thinking block, which may come in pieces. */
  #signature = "";

  next({ data }: ServerSentEvent): ChatChunk | null {
    const event = data === "" ? null : record(JSON.parse(data));
    switch (event?.type) {
      case "message_start":
        return this.#start(record(record(event.message)?.usage));
      case "content_block_start":
        return this.#open(count(event.index), record(event.content_block));
      case "content_block_delta":
        return this.#grow(count(event.index), record(event.delta));
      case "content_block_stop":
        return this.#close(count(event.index));
      case "message_delta":
        return this.#finish(record(event.delta), record(event.usage));
      case "message_stop":
        return { choices: [], done: true };
      case "error":
        return { choices: [], fault: faultOfError(0, record(event.error) ?? {}) };
      default: // a ping, or an event type that this code does not know
        return null;
    }
  }

  /** The first event counts the prompt: its tokens are known even if the stream breaks. */
  #start(counted: Json | null): ChatChunk {
    this.#usage = counted ?? {};
    const opening = chunk({ role: "assistant", content: "" });
    const usage = counted === null ? null : usageOf(counted);
    return usage === null ? opening : { ...opening, usage };
  }

  #open(at: number | null, block: Json | null): ChatChunk | null {
    if (at === null || block === null) return null;
    if (block.type === "text") return textChunk("content", block.text);
    if (block.type === "thinking") return textChunk("reasoning_content", block.thinking);
    if (block.type === "redacted_thinking") {
      return { choices: [], thinking: { redacted: text(block.data) ?? "" } };
    }
    if (block.type !== "tool_use") return null;
    const given = record(block.input);
    const whole = given !== null && Object.keys(given).length > 0 ? JSON.stringify(given) : "";
    const call = { index: this.#calls.size, sent: whole !== "" };
    this.#calls.set(at, call);
    return chunk({
      tool_calls: [{
        index: call.index,
        id: text(block.id) ?? "",
        type: "function",
        function: { name: text(block.name) ?? "", arguments: whole },
      }],
    });
  }

  #grow(at: number | null, delta: Json | null): ChatChunk | null {
    switch (delta?.type) {
      case "text_delta":
        return textChunk("content", delta.text);
      case "thinking_delta":
        return textChunk("reasoning_content", delta.thinking);
      case "input_json_delta": {
        const call = this.#calls.get(at ?? -1);
        const piece = text(delta.partial_json) ?? "";
        if (call === undefined || piece === "") return null;
        call.sent = true;
        return argumentsChunk(call, piece);
      }
      case "signature_delta":
        this.#signature += text(delta.signature) ?? "";
        return null;
      default: // citations
        return null;
    }
  }

  /** A call without arguments gets `{}`: clients parse the arguments as JSON. */
  #close(at: number | null): ChatChunk | null {
    if (this.#signature !== "") {
      const signature = this.#signature;
      this.#signature = "";
      return { choices: [], thinking: { signature } };
    }
    const call = this.#calls.get(at ?? -1);
    if (call === undefined || call.sent) return null;
    call.sent = true;
    return argumentsChunk(call, "{}");
  }

  #finish(delta: Json | null, counted: Json | null): ChatChunk | null {
    this.#usage = { ...this.#usage, ...withoutNulls(counted ?? {}) };
    const usage = counted === null ? null : usageOf(this.#usage);
    const ending = endingOf(delta?.stop_reason);
    const stopSequence = text(delta?.stop_sequence);
    const chunkAtEnd: ChatChunk = {
      ...(ending === null ? { choices: [] } : chunk({}, ending)),
      ...(stopSequence === null ? {} : { stopSequence }),
    };
    if (usage !== null) return { ...chunkAtEnd, usage };
    return ending === null ? null : chunkAtEnd;
  }
}

function chunk(delta: ChunkDelta, finish_reason: FinishReason | null = null): ChatChunk {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

function textChunk(field: "content" | "reasoning_content", value: unknown): ChatChunk | null {
  return typeof value === "string" && value !== "" ? chunk({ [field]: value }) : null;
}

function argumentsChunk({ index }: OpenCall, piece: string): ChatChunk {
  return chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
}

/** A count that is null is unchanged. */
function withoutNulls(counts: Json): Json {
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== null));
}
