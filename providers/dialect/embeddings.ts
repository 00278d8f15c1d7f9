import { liftVectors } from "../../src/lib/json_vectors.ts";
import type { EmbeddingAdapter, EmbeddingReply } from "../../src/upstream/adapter.ts";
import { compileFaults, type ErrorRules } from "./faults.ts";
import { count, type Json, record, records } from "./json.ts";
import { headerWriter, join, type WriteRules } from "./write.ts";

/** Fields that a client can have sent. */
const CLIENT_FIELDS = new Set(["model", "input", "encoding_format", "dimensions", "user"]);

/** Embeddings of a server that is compatible with OpenAI's. */
export function embeddingAdapter(
  rules: Pick<WriteRules, "auth" | "headers"> & { readonly errors?: ErrorRules },
): EmbeddingAdapter {
  const headersFor = headerWriter(rules);
  const faults = compileFaults(rules.errors, undefined, CLIENT_FIELDS);
  return {
    takesTokens: true,
    write: ({ inputs, encoding, dimensions, user }, target) => ({
      method: "POST",
      url: join(target.baseUrl, "/embeddings"),
      headers: headersFor(target, "application/json"),
      body: JSON.stringify({
        model: target.model,
        input: inputs,
        // Lists of numbers are the default of all servers, and not all know the parameter.
        encoding_format: encoding === "float" ? undefined : encoding,
        dimensions,
        user,
        ...target.extraBody,
      }),
    }),
    read: readEmbeddings,
    fault: faults.read,
  };
}

async function readEmbeddings(
  reply: Uint8Array<ArrayBuffer>,
  wanted: number,
): Promise<EmbeddingReply> {
  const { json, vectors } = await liftVectors(reply, "embedding");
  const body = record(JSON.parse(json));
  const data = records(body?.data);
  const ordered = new Array<Uint8Array<ArrayBuffer>>(wanted);
  for (const [at, entry] of data.entries()) {
    const vector = vectors[count(entry.embedding) ?? -1];
    const index = count(entry.index) ?? at;
    if (vector === undefined || index >= wanted || ordered[index] !== undefined) {
      throw new TypeError("an entry of the list is no vector of the request");
    }
    ordered[index] = vector;
  }
  if (data.length !== wanted) throw new TypeError(`${data.length} vectors for ${wanted} inputs`);
  return { vectors: ordered, tokens: tokensOf(record(body?.usage)) };
}

function tokensOf(usage: Json | null): number | null {
  return count(usage?.prompt_tokens) ?? count(usage?.total_tokens);
}
