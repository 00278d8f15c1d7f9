import assert from "node:assert/strict";
import type { Json } from "../helpers/chat_gateway.ts";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { startFakeUpstream } from "../helpers/fake_upstream.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

function configFor(adapter: string, baseUrl: string): string {
  return `
providers:
  somewhere: { adapter: ${adapter}, base_url: "${baseUrl}", api_key: "\${KEY:-sk-1}" }
models:
  - id: our-model
    name: Ours
    type: chat
    capabilities: [chat, streaming, tools]
    upstreams: [{ provider: somewhere, model: theirs, timeout_seconds: 5 }]
prices:
  default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: our-model, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }] }
`;
}

Deno.test("error.param is a path into the client's own request, or null: never an upstream's words", async () => {
  await using upstream = startFakeUpstream({});
  await using gateway = await openChatGateway({
    config: configFor("openai_compatible", `${upstream.url}/v1`),
  });
  for (
    const [named, param] of [
      ["canary-upstream-words", null],
      ["messages.canary-upstream-words", null],
      ["messages[0].canary_upstream_words", null],
      ["messages[0].content.canary_upstream_words", null],
      ["messages[7].content", null],
      ["messages.length", null],
      ["messages[0].constructor", null],
      ["metadata.canary_upstream_words", null],
      // Not in this request: the client would look for it in vain.
      ["temperature", null],
      [`messages${"[0]".repeat(50)}`, null],
      ["messages[0].content", "messages.0.content"],
      ["messages.[0].content", "messages.0.content"],
      ["messages[0].name", "messages.0.name"],
      ["metadata.order", "metadata.order"],
      ["max_tokens", "max_tokens"],
    ] as const
  ) {
    for (const stream of [false, true]) {
      upstream.answer({
        status: 400,
        body: { error: { message: "canary words", type: "invalid_request_error", param: named } },
      });
      const res = await gateway.chat("our-model", "hello", {
        stream,
        max_tokens: 10,
        metadata: { order: "17" },
      });
      assert.equal(res.status, 400);
      const error = await errorOf(res);
      assert.deepEqual([error.code, error.param], ["invalid_value", param], named);
      assert.doesNotMatch(JSON.stringify(error), /canary/);
    }
  }
  assert.equal((await gateway.balance()).frozen, "0.00");
  await gateway.verify();
});

Deno.test("a drama's error names no field of the request that the gateway wrote itself", async () => {
  await using upstream = startFakeUpstream({});
  const shipped = await Deno.readTextFile(
    new URL("../helpers/drama_config.yaml", import.meta.url),
  );
  await using gateway = await openMediaGateway({
    config: shipped.replace(
      /babbling: \{[^}]*\}[^}]*\}/,
      `babbling: { adapter: openai_compatible, base_url: "${upstream.url}/v1", api_key: "\${KEY:-sk-1}" }`,
    ),
  });
  for (
    const [code, expected] of [
      ["invalid_value", "invalid_value"],
      ["context_length_exceeded", "prompt_too_long"],
    ]
  ) {
    upstream.answer({
      status: 400,
      body: { error: { message: "canary words", code, param: "messages[0].content" } },
    });
    const { id } = await gateway.submit("/v1/dramas/generations", {
      model: "babbled",
      stage: "script",
      title: "Tides",
      script: "Mara waits at the sea.",
      business_id: crypto.randomUUID(),
    });
    const done: Json = await gateway.ended(id, 60);
    assert.equal(done.status, "failed");
    assert.equal(done.error.code, expected);
    assert.doesNotMatch(JSON.stringify(done.error), /messages|canary/);
    assert.equal(done.charge.settled, "0.00");
  }
  await gateway.verify();
});
