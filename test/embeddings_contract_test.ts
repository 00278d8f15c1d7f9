/**
 * Every adapter that serves embeddings against the documented requests, replies and errors of its provider, served over
 * real HTTP. The recordings are in providers/<name>/recorded/embeddings.json.
 */
import assert from "node:assert/strict";
import { openAdapters } from "../providers/registry.ts";
import { ApiError } from "../src/lib/api_error.ts";
import type { EmbeddingAdapter, UpstreamTarget } from "../src/upstream/adapter.ts";
import {
  type RecordedEmbeddingFile,
  type RecordedEmbeddings,
  recordedEmbeddings,
  startFakeUpstream,
} from "./helpers/fake_upstream.ts";

/** The simulator's adapter is the one of `openai_compatible`. */
const PROVIDERS = [...openAdapters()].filter(([name, { types }]) =>
  types.includes("embedding") && name !== "simulator"
);
const decoder = new TextDecoder();

for (const [provider, { embeddings }] of PROVIDERS) {
  const file = recordedEmbeddings(provider);
  assert.ok(file !== undefined, `providers/${provider}/recorded/embeddings.json is missing`);
  for (const recorded of file.cases) {
    Deno.test(`${provider} embeddings: ${recorded.name}`, () => check(embeddings!, file, recorded));
  }
}

async function check(
  embeddings: EmbeddingAdapter,
  file: RecordedEmbeddingFile,
  recorded: RecordedEmbeddings,
): Promise<void> {
  await using upstream = startFakeUpstream();
  const { request, reply, sent } = recorded;
  const target: UpstreamTarget = {
    model: file.model,
    baseUrl: upstream.url + file.base_path,
    apiKey: "sk-canary",
    headers: { "X-Declared": "yes" },
  };
  if (recorded.refused !== undefined) {
    assert.equal(embeddings.takesTokens, false);
    return void assert.throws(
      () => embeddings.write(request, target),
      (error) => error instanceof ApiError && error.param === recorded.refused,
    );
  }
  upstream.answer(reply);
  const { url, ...init } = embeddings.write(request, target);
  const response = await fetch(url, init);
  const seen = upstream.seen[0]!;
  assert.equal(seen.headers.get("x-declared"), "yes");
  if (sent !== undefined) {
    assert.deepEqual([seen.method, seen.path], ["POST", sent.path]);
    assert.deepEqual(JSON.parse(seen.body), sent.body);
    for (const [name, value] of Object.entries(sent.headers ?? {})) {
      assert.equal(seen.headers.get(name), value, name);
    }
  }
  if (!response.ok) {
    const text = await response.text();
    const fault = embeddings.fault(response.status, text.startsWith("{") ? JSON.parse(text) : text);
    return assert.deepEqual(fault, recorded.fault);
  }
  const bytes = await response.bytes();
  if (recorded.unreadable) {
    return await assert.rejects(embeddings.read(bytes, request.inputs.length));
  }
  const { vectors, tokens } = await embeddings.read(bytes, request.inputs.length);
  assert.deepEqual(
    { vectors: vectors.map((vector) => decoder.decode(vector)), tokens },
    recorded.read,
  );
}

Deno.test("every provider that serves embeddings has recordings of what it must be able to do", () => {
  const kinds = [/^a text$/, /length of their own/, /tokens/, /no reply/];
  for (const [provider] of PROVIDERS) {
    const names = recordedEmbeddings(provider)!.cases.map(({ name }) => name);
    const missing = kinds.filter((kind) => !names.some((name) => kind.test(name)));
    assert.deepEqual(missing, [], provider);
    const faults = recordedEmbeddings(provider)!.cases.filter(({ fault }) => fault !== undefined);
    assert.ok(faults.length > 0, `${provider} has no error`);
  }
});
