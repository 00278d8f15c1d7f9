import assert from "node:assert/strict";
import { ApiError } from "../../src/lib/api_error.ts";
import { openAdapters } from "../registry.ts";
import type { ChatRequest } from "../../src/upstream/adapter.ts";

const ADAPTERS = openAdapters();
const TARGET = { model: "m", baseUrl: "https://a.test", apiKey: "k", headers: {} };

function refusedBy(provider: string, request: Partial<ChatRequest>): [string, string | null] {
  const messages = [{ role: "user", content: "Hi" }];
  try {
    ADAPTERS.get(provider)!.chat!.write({ model: "ours", messages, ...request }, TARGET);
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.param];
    throw error;
  }
  return ["", null];
}

const UNABLE = "capability_not_supported";
const content = (part: Record<string, unknown>) => ({
  messages: [{ role: "user", content: [{ type: "text", text: "Look" }, part] }],
});

for (const provider of ["anthropic", "gemini"]) {
  Deno.test(`${provider} refuses what it cannot do, with the field the client wrote`, () => {
    const refused = (request: Partial<ChatRequest>) => refusedBy(provider, request);
    assert.deepEqual(refused({ n: 9 }), [UNABLE, "n"]);
    assert.deepEqual(refused({ modalities: ["text", "audio"] }), [UNABLE, "modalities"]);
    assert.deepEqual(refused({ audio: { voice: "a" } }), [UNABLE, "audio"]);
    assert.deepEqual(refused({ functions: [{ name: "f" }] }), [UNABLE, "functions"]);
    assert.deepEqual(refused({ tools: [{ type: "custom" }] }), [UNABLE, "tools.0.type"]);
    assert.deepEqual(
      refused({ messages: [{ role: "function", name: "f", content: "1" }] }),
      [UNABLE, "messages.0.role"],
    );
    assert.deepEqual(
      refused(content({ type: "file", file: { file_id: "file-1" } })),
      [UNABLE, "messages.0.content.1"],
    );
  });

  Deno.test(`${provider} refuses what is malformed, with the field the client wrote`, () => {
    const call = (written: string) => ({ id: "1", function: { name: "f", arguments: written } });
    const calls = (written: string) => ({
      messages: [{ role: "assistant", tool_calls: [call("{}"), call(written)] }],
    });
    const at = "messages.0.tool_calls.1.function.arguments";
    assert.deepEqual(refusedBy(provider, calls("{")), ["invalid_value", at]);
    assert.deepEqual(refusedBy(provider, calls("[1]")), ["invalid_value", at]);
    assert.deepEqual(refusedBy(provider, calls("")), ["", null]);
    assert.deepEqual(
      refusedBy(provider, content({ type: "image_url", image_url: { url: "file:///etc/passwd" } })),
      ["invalid_value", "messages.0.content.1.image_url.url"],
    );
  });
}

Deno.test("anthropic rejects logprobs and audio, which gemini accepts", () => {
  const audio = content({ type: "input_audio", input_audio: { data: "AA==", format: "wav" } });
  assert.deepEqual(refusedBy("anthropic", audio), [UNABLE, "messages.0.content.1"]);
  assert.deepEqual(refusedBy("anthropic", { logprobs: true }), [UNABLE, "logprobs"]);
  assert.deepEqual(refusedBy("gemini", audio), ["", null]);
  assert.deepEqual(refusedBy("gemini", { logprobs: true }), ["", null]);
});

Deno.test("an image of many megabytes is written without looking through it", () => {
  const url = `data:image/png;base64,${"A".repeat(20_000_000)}`;
  const started = performance.now();
  for (const provider of ["anthropic", "gemini"]) {
    assert.deepEqual(refusedBy(provider, content({ type: "image_url", image_url: { url } })), [
      "",
      null,
    ]);
  }
  assert.ok(performance.now() - started < 5000);
});
