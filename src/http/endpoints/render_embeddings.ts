import { ANSWER_CHARACTERS_MAX } from "../../domain/idempotency/answers.ts";
import { concatBytes } from "../../lib/bytes.ts";
import type { Embeddings } from "../../workflows/embeddings/create_embeddings.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
const CLOSE = encoder.encode("}");
/** Larger bodies are sent part by part: joining them would take as much memory again, and time at once. */
const JOINED_BYTES_MAX = ANSWER_CHARACTERS_MAX / 2;

/** OpenAI's list of embeddings. The vectors are passed on as they are: they may be millions of numbers. */
export function renderEmbeddings(
  model: string,
  { vectors, tokens }: Embeddings,
): Bytes | ReadableStream<Bytes> {
  const parts: Bytes[] = [encoder.encode('{"object":"list","data":[')];
  let length = 0;
  for (const [index, vector] of vectors.entries()) {
    const comma = index === 0 ? "" : ",";
    const head = `${comma}{"object":"embedding","index":${index},"embedding":`;
    parts.push(encoder.encode(head), vector, CLOSE);
    length += vector.length;
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  parts.push(
    encoder.encode(`],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`),
  );
  return length <= JOINED_BYTES_MAX ? concatBytes(parts) : inPieces(parts);
}

function inPieces(parts: readonly Bytes[]): ReadableStream<Bytes> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const from = at;
      let length = 0;
      while (at < parts.length && length < JOINED_BYTES_MAX) length += parts[at++]!.length;
      if (from === at) controller.close();
      else controller.enqueue(concatBytes(parts.slice(from, at)));
    },
  });
}
