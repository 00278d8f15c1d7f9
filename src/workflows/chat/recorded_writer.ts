import { ANSWER_CHARACTERS_MAX } from "../../domain/idempotency/answers.ts";
import type { AnswerWriter } from "./dialect.ts";

/** Writes a streamed answer and remembers what it wrote, to be kept for repeats of the request. */
export class RecordedWriter implements AnswerWriter {
  #text = "";

  constructor(private readonly writer: AnswerWriter) {}

  get text(): string {
    return this.#text;
  }

  get heartbeat(): string {
    return this.writer.heartbeat;
  }

  chunk: AnswerWriter["chunk"] = (chunk) => this.#record(this.writer.chunk(chunk));

  end: AnswerWriter["end"] = async (usage) => this.#record(await this.writer.end(usage));

  fail: AnswerWriter["fail"] = (apiError) => this.writer.fail(apiError);

  /** A longer one is not kept: its first part is enough to tell. */
  #record(text: string): string {
    if (this.#text.length <= ANSWER_CHARACTERS_MAX) this.#text += text;
    return text;
  }
}
