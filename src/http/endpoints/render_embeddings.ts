import { concatBytes } from "../../lib/bytes.ts";
import type { Embeddings } from "../../workflows/embeddings/create_embeddings.ts";

const encoder = new TextEncoder();

/** OpenAI's list of embeddings. The vectors are copied as they are: they may be millions of numbers. */
export function renderEmbeddings(
  model: string,
  { vectors, tokens }: Embeddings,
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [encoder.encode('{"object":"list","data":[')];
  for (const [index, vector] of vectors.entries()) {
    const comma = index === 0 ? "" : ",";
    const head = `${comma}{"object":"embedding","index":${index},"embedding":`;
    parts.push(encoder.encode(head), vector, CLOSE);
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  parts.push(
    encoder.encode(`],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`),
  );
  return concatBytes(parts);
}

const CLOSE = encoder.encode("}");
