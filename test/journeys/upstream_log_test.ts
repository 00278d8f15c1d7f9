import assert from "node:assert/strict";
import { type ChatGateway, openChatGateway } from "../helpers/chat_gateway.ts";

/** An upstream that answers with a status, or with a completion for 200. */
function serveStatus(): AsyncDisposable & { address: string; set status(next: number) } {
  let status = 200;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    await request.body?.cancel();
    if (status !== 200) return Response.json({ error: { message: "own-words" } }, { status });
    return Response.json({
      choices: [{ index: 0, message: { role: "assistant", content: "Y" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}/v1`,
    set status(next: number) {
      status = next;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const configFor = (first: string, second: string) => `
limits: { default: { requests_per_minute: 1000000, tokens_per_minute: 1000000000 } }
providers:
  alpha: { adapter: openai_compatible, base_url: "${first}", api_key: "\${KEY:-sk-alpha-key}" }
  beta: { adapter: openai_compatible, base_url: "${second}", api_key: "\${KEY:-sk-beta-key}" }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat]
    upstreams:
      - { provider: alpha, model: a1, priority: 0, timeout_seconds: 5 }
      - { provider: beta, model: b1, priority: 1, timeout_seconds: 5 }
prices:
  default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: talk, billing_type: per_call, price: "0.01", unit: call }] }
`;

interface Line {
  level: string;
  message: string;
  [field: string]: unknown;
}

function linesOf(gateway: ChatGateway): Line[] {
  return gateway.logged().trim().split("\n").map((line) => JSON.parse(line) as Line);
}

function withMessage(gateway: ChatGateway, message: string): Line[] {
  return linesOf(gateway).filter((line) => line.message === message);
}

async function chat(gateway: ChatGateway): Promise<{ status: number; id: string }> {
  const response = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "talk", messages: [{ role: "user", content: "x" }] }),
  });
  await response.body?.cancel();
  return { status: response.status, id: response.headers.get("x-request-id")! };
}

Deno.test("a rejected key with a working fallback is one warning, each attempt a line with its request, and its recovery is told", async () => {
  await using first = serveStatus();
  await using second = serveStatus();
  await using gateway = await openChatGateway({ config: configFor(first.address, second.address) });
  first.status = 401;
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { status, id } = await chat(gateway);
    assert.equal(status, 200);
    ids.push(id);
  }
  const failed = withMessage(gateway, "upstream attempt failed");
  assert.deepEqual(
    failed.map(({ level, request_id, provider, model, reason, status }) => [
      ...[level, request_id, provider, model, reason, status],
    ]),
    ids.map((id) => ["info", id, "alpha", "a1", "unauthorized", 401]),
  );
  const [rejected, ...more] = withMessage(gateway, "provider rejects our key");
  assert.deepEqual(
    [rejected!.level, rejected!.provider, rejected!.status, rejected!.request_id, more.length],
    ["warn", "alpha", 401, ids[0], 0],
  );
  first.status = 200;
  await chat(gateway);
  assert.deepEqual(
    withMessage(gateway, "provider accepts our key again").map(({ level, provider }) => [
      level,
      provider,
    ]),
    [["info", "alpha"]],
  );
  const shown = linesOf(gateway).filter(({ level }) => level !== "debug");
  assert.ok(!JSON.stringify(shown).includes("own-words"), "the provider's words stay at debug");
});

Deno.test("a breaker that opens is one warning, and a request that failed names the upstreams that were tried", async () => {
  await using first = serveStatus();
  await using second = serveStatus();
  await using gateway = await openChatGateway({ config: configFor(first.address, second.address) });
  first.status = 500;
  second.status = 500;
  const { id, status } = await chat(gateway);
  assert.equal(status, 503);
  const [line] = withMessage(gateway, "request failed");
  assert.equal(line!.request_id, id);
  assert.deepEqual(line!.attempts, ["alpha/a1: failed", "beta/b1: failed"]);

  second.status = 200;
  for (let n = 0; n < 10; n++) await chat(gateway);
  const opened = withMessage(gateway, "circuit breaker opened");
  assert.deepEqual(
    opened.map(({ level, provider, model, failures }) => [level, provider, model, failures]),
    [["warn", "alpha", "a1", 5]],
  );
  assert.ok(Number(opened[0]!.retry_in_seconds) > 0);
  assert.equal(withMessage(gateway, "circuit breaker closed").length, 0);
});
