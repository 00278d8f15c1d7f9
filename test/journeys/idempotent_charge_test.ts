import assert from "node:assert/strict";
import { type ChatGateway, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { post } from "../helpers/dialects.ts";
import { errorOf } from "../helpers/open_gateway.ts";
import { say, serveRaw } from "../helpers/raw_server.ts";

const messages = [{ role: "user", content: "Tell me about tides." }];
const KEY = { "idempotency-key": "order-1" };

async function chargesOf({ gateway }: ChatGateway): Promise<number[]> {
  const rows = await gateway.database.sql<{ taken: number }[]>`
    select (select coalesce(sum(part), 0) from unnest(taken) part)::float as taken
      from final_receipt order by id`;
  return rows.map(({ taken }) => taken);
}

/** Whether each claimed key has its answer. */
async function areAnswered({ gateway: { database: { sql } } }: ChatGateway): Promise<boolean[]> {
  const rows = await sql<{ is_answered: boolean }[]>`
    select answered_at is not null as is_answered from idempotent_answer`;
  return rows.map(({ is_answered }) => is_answered);
}

/** Keeps the account's wallet locked, so that nothing is settled, until the result is disposed of. */
async function lockWallet({ gateway, account }: ChatGateway): Promise<AsyncDisposable> {
  const [locked, enough] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = gateway.database.sql.begin(async (tx) => {
    await tx`select from wallet where account_id = ${account} for update`;
    locked.resolve();
    await enough.promise;
  });
  await locked.promise;
  return {
    async [Symbol.asyncDispose]() {
      enough.resolve();
      await locking;
    },
  };
}

Deno.test("an answer that could not be charged is not kept for a repeat", async () => {
  await using gateway = await openChatGateway({ timing: { chat: { settleMs: 100 } } });
  const { sql } = gateway.gateway.database;
  const asked = { model: "slow", messages, max_tokens: 30 };
  const first = post(gateway, "/chat/completions", asked, KEY);
  await until("it is held", async () => (await sql`select from hold`).length === 1);
  {
    await using _locked = await lockWallet(gateway);
    assert.equal((await errorOf(await first)).code, "storage_unavailable");
  }
  // The sweeper resolves its hold, as it does after a minute.
  await sql`update hold set expires_at = now() - interval '1 second'`;
  await sql`select * from ledger_sweep_holds(100)`;
  const again = await post(gateway, "/chat/completions", asked, KEY);
  assert.equal(again.status, 200, await again.text());
  assert.equal(again.headers.get("idempotent-replayed"), null);
  assert.deepEqual(await chargesOf(gateway), [0, 0.03]);
  await gateway.verify();
});

const LOST = [
  { name: "a chat", path: "/chat/completions", body: { model: "slow", messages, max_tokens: 60 } },
  {
    name: "a stream",
    path: "/chat/completions",
    body: { model: "slow", messages, max_tokens: 60, stream: true },
  },
];
for (const { name, path, body } of LOST) {
  Deno.test(`${name} whose answer another node has made during a pause is not charged`, async () => {
    await using gateway = await openChatGateway({ timing: { answers: { leaseSeconds: 0.2 } } });
    const { sql } = gateway.gateway.database;
    const first = post(gateway, path, body, KEY);
    await until("it is under way", async () => (await areAnswered(gateway)).length === 1);
    // What another node does when the lease of the first one has ended.
    await sql`update idempotent_answer set request_id = 'req_other', lease_until = now() + interval '1 minute'`;
    const text = await (await first).text();
    assert.match(text, /idempotency_in_progress/);
    assert.deepEqual(await chargesOf(gateway), [0]);
    assert.deepEqual(await areAnswered(gateway), [false]);
    await gateway.verify();
  });
}

const chunk = (fields: object) =>
  `data: ${
    JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, ...fields })
  }\n\n`;
const words = { content: "word ".repeat(2_000) };
const WORDS = chunk({ choices: [{ index: 0, delta: words, finish_reason: null }] });
const END = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) +
  chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 1_000 } }) +
  "data: [DONE]\n\n";

Deno.test("a stream with a key that its client stops reading is made and charged once", async () => {
  let calls = 0;
  await using upstream = serveRaw(async (connection) => {
    calls++;
    await say(
      connection,
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    );
    // More than fits into the buffers between here and the client.
    const bytes = new TextEncoder().encode(WORDS.repeat(1_500) + END);
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
    connection.close();
  });
  await using gateway = await openChatGateway({
    timing: { chat: { unreadMs: 600 } },
    config: `
providers:
  p: { adapter: openai_compatible, base_url: "http://127.0.0.1:${upstream.port}/v1" }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming]
    limits: { max_output_tokens: 100000 }
    upstreams: [{ provider: p, model: chat }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries: [{ model: talk, billing_type: token, input_price: "1", output_price: "1", unit: 1K tokens }]
`,
  });
  await gateway.credit("1000");
  const { hostname, port } = new URL(gateway.address);
  const client = await Deno.connect({ hostname, port: Number(port) });
  const asked = { model: "talk", stream: true, messages };
  const body = JSON.stringify(asked);
  await say(
    client,
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nidempotency-key: order-1\r\n` +
      `authorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  );
  await client.read(new Uint8Array(15));
  await until("it is settled", async () => (await areAnswered(gateway))[0] === true, 20);
  client.close();
  const again = await post(gateway, "/chat/completions", asked, KEY);
  // Too long to be kept: but it is known that it was charged.
  assert.equal((await errorOf(again)).code, "idempotency_key_reused");
  assert.equal(calls, 1);
  assert.deepEqual(await chargesOf(gateway), [1.005]);
});
