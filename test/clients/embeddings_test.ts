import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { OpenAIEmbeddings } from "@langchain/openai";
import { OpenAIEmbedding } from "@llamaindex/openai";
import { embed, embedMany } from "ai";
import OpenAI from "openai";
import { openEmbeddingsGateway } from "../helpers/embeddings_gateway.ts";

const TEXTS = ["The gate is open.", "The gate is shut.", "A lighthouse in the rain."];

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0);
}

/** Texts with common words are nearer to each other than others, so the numbers arrived as they were sent. */
function checkVectors(vectors: readonly (readonly number[])[], dimensions = 1536): void {
  assert.deepEqual(vectors.map(({ length }) => length), TEXTS.map(() => dimensions));
  const [open, shut, rain] = vectors as [number[], number[], number[]];
  assert.ok(Math.abs(cosine(open, open) - 1) < 1e-3);
  assert.ok(cosine(open, shut) > cosine(open, rain) + 0.1);
}

Deno.test("the official openai package creates embeddings by its default call, which asks for base64", async () => {
  await using gateway = await openEmbeddingsGateway();
  const options = { apiKey: gateway.key, baseURL: `${gateway.address}/v1`, maxRetries: 0 };
  const client = new OpenAI(options);
  const made = await client.embeddings.create({ model: "embed", input: TEXTS });
  checkVectors(made.data.map(({ embedding }) => embedding));
  assert.deepEqual(made.usage, { prompt_tokens: 16, total_tokens: 16 });
  const floats = await client.embeddings.create({
    ...{ model: "embed", input: TEXTS, dimensions: 256 },
    encoding_format: "float",
  });
  checkVectors(floats.data.map(({ embedding }) => embedding), 256);
  await assert.rejects(
    client.embeddings.create({ model: "embed", input: "a", dimensions: 5000 }),
    (error: unknown) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.deepEqual([error.code, error.param], ["invalid_value", "dimensions"]);
      return true;
    },
  );
  await gateway.verify();
});

Deno.test("the Vercel AI SDK embeds one text and many", async () => {
  await using gateway = await openEmbeddingsGateway();
  const openai = createOpenAI({ apiKey: gateway.key, baseURL: `${gateway.address}/v1` });
  const model = openai.textEmbeddingModel("embed");
  const { embeddings, usage } = await embedMany({ model, values: TEXTS });
  checkVectors(embeddings);
  assert.equal(usage.tokens, 16);
  const { embedding } = await embed({ model, value: TEXTS[0]! });
  assert.deepEqual(embedding, embeddings[0]);
});

Deno.test("LangChain embeds documents and a query", async () => {
  await using gateway = await openEmbeddingsGateway();
  const embeddings = new OpenAIEmbeddings({
    model: "embed",
    apiKey: gateway.key,
    maxRetries: 0,
    configuration: { baseURL: `${gateway.address}/v1` },
  });
  checkVectors(await embeddings.embedDocuments(TEXTS));
  assert.equal((await embeddings.embedQuery(TEXTS[0]!)).length, 1536);
});

Deno.test("LlamaIndex embeds texts", async () => {
  await using gateway = await openEmbeddingsGateway();
  const embedding = new OpenAIEmbedding({
    model: "embed",
    apiKey: gateway.key,
    baseURL: `${gateway.address}/v1`,
    maxRetries: 0,
  });
  checkVectors(await embedding.getTextEmbeddings(TEXTS));
});
