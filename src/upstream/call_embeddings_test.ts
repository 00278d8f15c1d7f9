import assert from "node:assert/strict";
import { embeddingAdapter } from "../../providers/dialect/embeddings.ts";
import type { EmbeddingRequest } from "./adapter.ts";
import type { Attempt } from "./call_chat.ts";
import { callEmbeddings } from "./call_embeddings.ts";
import { UpstreamFailure } from "./failure.ts";

const BATCH = { inputs: 2048, dimensions: 3072 };
const PIECE_BYTES = 64 * 1024;

/** An attempt whose upstream replies with this body. */
function attemptWith(body: string): Attempt {
  return {
    upstream: {} as Attempt["upstream"],
    adapter: {
      types: ["embedding"],
      baseUrl: null,
      embeddings: embeddingAdapter({}),
      transport: () => Promise.resolve(new Response(inPieces(new TextEncoder().encode(body)))),
    },
    http1: null,
    callIds: null,
    seals: null,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  };
}

/** As it comes from the network. */
function inPieces(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resume) => setImmediate(resume));
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at += PIECE_BYTES));
    },
  });
}

function call(attempt: Attempt, asked: Partial<EmbeddingRequest> = {}, dimensionsMax = 8) {
  const request = {
    ...{ inputs: ["a", "b"], encoding: "float", dimensions: undefined, user: undefined },
    ...asked,
  } as EmbeddingRequest;
  const target = { model: "m", baseUrl: "http://provider.test", apiKey: null, headers: {} };
  return callEmbeddings(attempt, { request, target, original: {}, dimensionsMax });
}

const replyOf = (...vectors: readonly string[]) =>
  `{"data":[${vectors.map((vector) => `{"embedding":${vector}}`)}],"usage":{"prompt_tokens":2}}`;

async function textsOf(made: ReturnType<typeof call>): Promise<string[]> {
  return (await made).vectors.map((vector) => new TextDecoder().decode(vector));
}

Deno.test("vectors pass as the upstream wrote them, and lists become base64 where that was asked for", async () => {
  const attempt = attemptWith(replyOf("[1.0, -2]", "[0,0]"));
  assert.deepEqual(await textsOf(call(attempt)), ["[1.0, -2]", "[0,0]"]);
  assert.deepEqual(await textsOf(call(attempt, { encoding: "base64" })), [
    '"AACAPwAAAMA="',
    '"AAAAAAAAAAA="',
  ]);
});

Deno.test("vectors of another length, number, encoding or content are an unreadable reply", async () => {
  const cases: [string, Partial<EmbeddingRequest>][] = [
    [replyOf("[1,2]", "[1]"), {}],
    [replyOf("[1,2]", "[1,2]"), { dimensions: 3 }],
    [replyOf("[1,2]"), {}],
    [replyOf("[1,2]", "[1,NaN]"), {}],
    [replyOf('"AACAPw=="', '"AACAPw=="'), {}],
    [replyOf("[1]", "[2]").slice(0, -1), {}],
    [replyOf(`[${Array(100_000).fill("0.5")}]`, "[1]"), {}],
    ["<html>", {}],
  ];
  for (const [body, asked] of cases) {
    await assert.rejects(
      call(attemptWith(body), asked),
      (error) => error instanceof UpstreamFailure && error.kind === "unreadable",
      body.slice(0, 100),
    );
  }
});

for (const encoding of ["float", "base64"] as const) {
  Deno.test(`other work goes on while a large batch is read as ${encoding}`, async () => {
    const numbers = Array.from(
      { length: BATCH.dimensions },
      (_, at) => Math.fround(Math.sin(at)).toPrecision(9),
    );
    const reply = replyOf(...Array(BATCH.inputs).fill(`[${numbers}]`));
    const attempt = attemptWith(reply);
    let last = performance.now();
    let longest = 0;
    const timer = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1);
    const started = performance.now();
    const inputs = Array<string>(BATCH.inputs).fill("a");
    const { vectors } = await call(attempt, { inputs, encoding }, BATCH.dimensions);
    clearInterval(timer);
    const total = performance.now() - started;
    const figures = `${Math.round(total)} ms, ${Math.round(longest)} ms at once`;
    assert.equal(vectors.length, BATCH.inputs);
    // All numbers at once would be most of the time.
    assert.ok(longest < total / 2, figures);
    if (Deno.env.has("SHOW_FIGURES")) {
      console.log(`${reply.length >> 20} MiB as ${encoding}: ${figures}`);
    }
  });
}
