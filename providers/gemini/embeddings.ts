import { liftVectors } from "../../src/lib/json_vectors.ts";
import type {
  EmbeddingAdapter,
  EmbeddingReply,
  EmbeddingRequest,
  UpstreamTarget,
} from "../../src/upstream/adapter.ts";
import { count, record, records } from "../dialect/json.ts";
import { join, refuse } from "../dialect/write.ts";
import { geminiHeaders, modelPath } from "./call.ts";
import { readFault } from "./fault.ts";

/** Embeddings of the Gemini API. It takes texts only, and returns lists of numbers only. */
export const embeddings: EmbeddingAdapter = {
  takesTokens: false,
  write: (request, target) => ({
    method: "POST",
    url: join(target.baseUrl, `/${encodeURI(modelPath(target))}:batchEmbedContents`),
    headers: geminiHeaders(target, "application/json"),
    body: JSON.stringify({ requests: requestsOf(request, target), ...target.extraBody }),
  }),
  read: readEmbeddings,
  fault(status, body) {
    // Its names of fields are none of the client's.
    const { kind } = readFault(status, body);
    return { kind };
  },
};

function requestsOf({ inputs, dimensions }: EmbeddingRequest, target: UpstreamTarget) {
  const model = modelPath(target);
  return inputs.map((input) => ({
    model,
    content: { parts: [{ text: typeof input === "string" ? input : refuseTokens() }] },
    outputDimensionality: dimensions,
  }));
}

function refuseTokens(): never {
  refuse("input", "This model takes texts, not tokens.");
}

async function readEmbeddings(
  reply: Uint8Array<ArrayBuffer>,
  wanted: number,
): Promise<EmbeddingReply> {
  const { json, vectors } = await liftVectors(reply, "values");
  const body = record(JSON.parse(json));
  const entries = records(body?.embeddings);
  if (entries.length !== wanted) {
    throw new TypeError(`${entries.length} vectors for ${wanted} inputs`);
  }
  return {
    vectors: entries.map(({ values }) => {
      const vector = vectors[count(values) ?? -1];
      if (vector === undefined) throw new TypeError("an entry of the list is no vector");
      return vector;
    }),
    tokens: count(record(body?.usageMetadata)?.promptTokenCount),
  };
}
