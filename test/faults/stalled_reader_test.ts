import assert from "node:assert/strict";
import { type ChatGateway, openChatGateway, until } from "../helpers/chat_gateway.ts";
import type { TestGatewayOptions } from "../helpers/open_gateway.ts";
import { type RawServer, say, serveRaw } from "../helpers/raw_server.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const CHUNK = `data: ${
  JSON.stringify({
    id: "x",
    object: "chat.completion.chunk",
    created: 1,
    model: "chat",
    choices: [{ index: 0, delta: { content: "word ".repeat(200) }, finish_reason: null }],
  })
}\n\n`;

/** An upstream whose answer never ends. */
function serveEndless(): RawServer {
  return serveRaw(async (connection) => {
    await say(connection, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
    const bytes = new TextEncoder().encode(CHUNK);
    while (true) {
      for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
    }
  });
}

function openOn(upstream: RawServer, chat: NonNullable<TestGatewayOptions["timing"]>["chat"]) {
  return openChatGateway({
    timing: { chat },
    config: `
providers:
  narrow: { adapter: openai_compatible, base_url: "http://127.0.0.1:${upstream.port}/v1", concurrency_max: 1 }
models:
  - { id: talk, name: Talk, type: chat, capabilities: [chat, streaming], limits: { max_output_tokens: 100000 }, upstreams: [{ provider: narrow, model: chat }] }
prices: { default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: talk, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }] } }
`,
  });
}

/** Asks for a stream, reads its head and then nothing. */
async function stall(gateway: ChatGateway): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(gateway.address);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const body = JSON.stringify({
    model: "talk",
    stream: true,
    messages: [{ role: "user", content: "Hello" }],
  });
  await say(
    connection,
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const head = new Uint8Array(15);
  await connection.read(head);
  assert.match(new TextDecoder().decode(head), /^HTTP\/1.1 200/);
  return connection;
}

async function upstreamOf(gateway: ChatGateway) {
  const { data } = await (await gateway.admin("GET", "/providers")).json();
  return data[0].upstreams[0];
}

for (
  const [what, timing] of [
    ["a client that does not read is given up", { unreadMs: 600 }],
    ["the deadline ends a stream that is not read", { totalMs: 1_500, unreadMs: 3_600_000 }],
  ] as const
) {
  Deno.test(
    `${what}: the upstream's slot is free, what came is paid for, nothing stays frozen`,
    STRICT,
    async () => {
      await using upstream = serveEndless();
      await using gateway = await openOn(upstream, timing);
      const client = await stall(gateway);
      assert.equal((await upstreamOf(gateway)).in_flight, 1);
      await until(
        "the slot is free",
        async () => (await upstreamOf(gateway)).in_flight === 0,
        8,
      );
      await until(
        "nothing is frozen",
        async () => (await gateway.balance()).frozen === "0.00",
        5,
      );
      const { available } = await gateway.balance();
      assert.ok(Number(available) < 100, available);
      assert.ok(!gateway.logged().includes("upstream failed"), "the upstream is not blamed");
      await gateway.verify();
      client.close();
    },
  );
}

Deno.test(
  "a stream that has not begun when its total time is over answers 503 and costs nothing",
  STRICT,
  async () => {
    await using upstream = serveRaw(async (connection) => {
      await connection.read(new Uint8Array(1));
    });
    await using gateway = await openOn(upstream, { totalMs: 300 });
    const response = await gateway.chat("talk", "Hello", { stream: true });
    const { error } = await response.json();
    assert.deepEqual([response.status, error.code], [503, "upstream_timeout"]);
    assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
    assert.ok(!gateway.logged().includes("internal_error"), gateway.logged());
  },
);
