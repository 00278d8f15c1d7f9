import assert from "node:assert/strict";
import { ApiError } from "../../src/lib/api_error.ts";
import type { ChatRequest, UpstreamTarget } from "../../src/upstream/adapter.ts";
import { requestWriter, type WriteRules } from "./write.ts";

const REQUEST: ChatRequest = { model: "ours", messages: [{ role: "user", content: "Hi" }] };
const TARGET: UpstreamTarget = {
  model: "theirs",
  baseUrl: "https://a.test/v1",
  apiKey: "k",
  headers: {},
};

function written(
  declared: WriteRules,
  request: Partial<ChatRequest> = {},
  target: Partial<UpstreamTarget> = {},
) {
  const sent = requestWriter(declared)({ ...REQUEST, ...request }, { ...TARGET, ...target });
  return { ...sent, body: JSON.parse(sent.body!) as Record<string, unknown> };
}

const refusal = (param: string) => (error: unknown) =>
  error instanceof ApiError && error.code === "capability_not_supported" && error.param === param;

Deno.test("a compatible server gets the request unchanged, with its own model", () => {
  const { url, headers, body } = written({});
  assert.equal(url, "https://a.test/v1/chat/completions");
  assert.equal(headers.authorization, "Bearer k");
  assert.deepEqual(body, { ...REQUEST, model: "theirs" });
});

Deno.test("parameters are renamed, dropped, clamped and given defaults", () => {
  const { body } = written({
    parameters: {
      rename: { max_completion_tokens: "max_tokens" },
      drop: ["store"],
      keep: { temperature: { max: 1 }, top_p: { min: 0.1 } },
      defaults: { top_k: 40, seed: 1 },
    },
  }, { max_completion_tokens: 5, max_tokens: 9, store: true, temperature: 2, top_p: 0, seed: 0 });
  assert.deepEqual(body, {
    ...REQUEST,
    model: "theirs",
    max_tokens: 5,
    temperature: 1,
    top_p: 0.1,
    top_k: 40,
    seed: 0,
  });
});

Deno.test("parameters that a server does not support are rejected where the client would miss them", () => {
  const declared: WriteRules = {
    parameters: { refuse: ["logprobs"], keep: { n: { max: 1, otherwise: "refuse" } } },
  };
  assert.throws(() => written(declared, { n: 2 }), refusal("n"));
  assert.throws(() => written(declared, { logprobs: true }), refusal("logprobs"));
  assert.throws(
    () => written(declared, { tools: [{ type: "custom", custom: { name: "sql" } }] }),
    refusal("tools.0.type"),
  );
  assert.equal(written(declared, { n: 1, logprobs: false }).body.n, 1);
});

Deno.test("roles and fields of messages change in a copy, never in the client's request", () => {
  const messages = [{ role: "developer", content: "Be brief.", name: "x" }, { role: "user" }];
  const before = structuredClone(messages);
  const { body } = written({
    messages: { roles: { developer: "system" }, drop: ["name"] },
  }, { messages });
  assert.deepEqual(body.messages, [{ role: "system", content: "Be brief." }, { role: "user" }]);
  assert.deepEqual(messages, before);
});

Deno.test("every stream requests usage, unless the server does not support it", () => {
  const asked = written({}, { stream: true, stream_options: { include_usage: false, more: 1 } });
  assert.deepEqual(asked.body.stream_options, { include_usage: true, more: 1 });
  assert.equal(asked.headers.accept, "text/event-stream");
  const unasked = written({ stream: { ask_usage: false } }, { stream: true, stream_options: {} });
  assert.equal("stream_options" in unasked.body, false);
  assert.equal("stream_options" in written({}, { stream_options: {} }).body, false);
});

Deno.test("configured headers win in any case of letters, and the key can be sent in any header or none", () => {
  const { headers } = written(
    { auth: { header: "X-Key" }, headers: { "X-Tier": "a", "X-More": "b" } },
    {},
    { headers: { "x-tier": "c", "X-KEY": "other" } },
  );
  assert.equal(headers["x-tier"], "c");
  assert.equal(headers["x-more"], "b");
  assert.equal(headers["x-key"], "other");
  assert.equal("authorization" in headers, false);
  assert.equal("authorization" in written({ auth: "none" }).headers, false);
  assert.equal("authorization" in written({}, {}, { apiKey: null }).headers, false);
});

Deno.test("the path may contain the model, and slashes are not doubled", () => {
  const { url } = written({ path: "/m/{model}/chat" }, {}, {
    model: "a/b $&",
    baseUrl: "https://a.test//",
  });
  assert.equal(url, "https://a.test/m/a%2Fb%20%24%26/chat");
});
