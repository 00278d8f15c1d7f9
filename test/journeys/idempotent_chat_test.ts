import assert from "node:assert/strict";
import { openSecretBox } from "../../src/platform/secrets/secret_box.ts";
import { IdempotentAnswers } from "../../src/domain/idempotency/answers.ts";
import { identifyRequest } from "../../src/domain/idempotency/key.ts";
import { newId } from "../../src/lib/ids.ts";
import { type ChatGateway, type Json, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { post } from "../helpers/dialects.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const messages = [{ role: "user", content: "Tell me about tides." }];
const DIALECTS = [
  { path: "/chat/completions", body: { model: "talk", messages } },
  { path: "/messages", body: { model: "talk", max_tokens: 100, messages } },
  { path: "/responses", body: { model: "talk", input: "Tell me about tides." } },
];
const KEY = { "idempotency-key": "order-1" };

async function receiptsOf(gateway: ChatGateway): Promise<Json[]> {
  return (await (await gateway.get("/v1/usage")).json()).data;
}

for (const { path, body } of DIALECTS) {
  for (const stream of [false, true]) {
    const name = `${path}${stream ? ", streamed" : ""}`;
    Deno.test(`${name}: a repeated request gets the first answer, byte by byte, and is charged once`, async () => {
      await using gateway = await openChatGateway();
      const asked = { ...body, stream };
      const first = await post(gateway, path, asked, KEY);
      const answer = await first.text();
      assert.equal(first.status, 200, answer);
      assert.equal(first.headers.get("idempotent-replayed"), null);
      const balance = await gateway.balance();
      const again = await post(gateway, path, asked, KEY);
      assert.equal(again.status, 200);
      assert.equal(again.headers.get("idempotent-replayed"), "true");
      assert.equal(again.headers.get("content-type"), first.headers.get("content-type"));
      assert.equal(await again.text(), answer);
      assert.deepEqual(await gateway.balance(), balance);
      assert.equal((await receiptsOf(gateway)).length, 1);

      const other = await post(gateway, path, { ...asked, temperature: 1 }, KEY);
      assert.equal((await errorOf(other)).code, "idempotency_key_reused");
      const own = await post(gateway, path, asked, { "idempotency-key": "order-2" });
      assert.equal(own.headers.get("idempotent-replayed"), null);
      await own.text();
      assert.equal((await receiptsOf(gateway)).length, 2);
      await gateway.verify();
    });
  }
}

Deno.test("409 idempotency_in_progress while the first request is under way; 50 at once are charged once", async () => {
  await using gateway = await openChatGateway();
  const asked = { model: "slow", messages, max_tokens: 20 };
  const send = () => post(gateway, "/chat/completions", asked, KEY);
  const all = await Promise.all(Array.from({ length: 50 }, send));
  const statuses = Map.groupBy(all, ({ status }) => status);
  assert.deepEqual([statuses.get(200)?.length, statuses.get(409)?.length], [1, 49]);
  const refused = statuses.get(409)![0]!;
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  assert.equal((await errorOf(refused)).code, "idempotency_in_progress");
  for (const res of all) if (!res.bodyUsed) await res.body?.cancel();
  assert.equal((await receiptsOf(gateway)).length, 1);
  await gateway.verify();
});

Deno.test("a request that failed is not remembered, and costs nothing", async () => {
  await using gateway = await openChatGateway({ cash: "0" });
  const asked = { model: "talk", messages };
  assert.equal(
    (await errorOf(await post(gateway, "/chat/completions", asked, KEY))).code,
    "insufficient_balance",
  );
  await gateway.credit("10");
  const res = await post(gateway, "/chat/completions", asked, KEY);
  assert.equal(res.status, 200, await res.text());
  const wrong = await post(gateway, "/chat/completions", asked, {
    "idempotency-key": "ü".repeat(3),
  });
  assert.equal((await errorOf(wrong)).param, "Idempotency-Key");
});

Deno.test("a stream that fails is not remembered", async () => {
  await using gateway = await openChatGateway();
  const content = "Hello [[simulate: cut=4]]";
  const asked = { model: "talk", stream: true, messages: [{ role: "user", content }] };
  for (let times = 0; times < 2; times++) {
    const res = await post(gateway, "/chat/completions", asked, KEY);
    assert.equal(res.headers.get("idempotent-replayed"), null);
    assert.match(await res.text(), /upstream_failed/);
    await until("the key is free", async () => (await countAnswers(gateway)) === 0);
  }
});

for (const stream of [false, true]) {
  Deno.test(`a client that loses its connection finds the whole ${stream ? "stream" : "answer"} with its key`, async () => {
    await using gateway = await openChatGateway();
    const asked = { model: "slow", messages, max_tokens: 30, stream };
    const leaving = new AbortController();
    const send = (signal?: AbortSignal) =>
      gateway.fetch("/v1/chat/completions", {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.key}`,
          "content-type": "application/json",
          ...KEY,
        },
        body: JSON.stringify(asked),
        ...(signal === undefined ? {} : { signal }),
      });
    const first = send(leaving.signal);
    if (stream) await (await first).body!.getReader().read();
    else await until("it is under way", async () => (await countAnswers(gateway)) === 1);
    leaving.abort();
    await first.catch(() => undefined);
    let text = "";
    await until("the answer is kept", async () => {
      const res = await send();
      text = await res.text();
      return res.status === 200;
    });
    if (stream) assert.match(text, /\[DONE\]\n\n$/);
    else assert.equal(JSON.parse(text).usage.completion_tokens, 30);
    // The settlement is written beside the answer.
    let receipts: Json[] = [];
    await until("it is settled", async () => {
      receipts = await receiptsOf(gateway);
      return receipts[0]?.usage !== null;
    });
    assert.deepEqual(receipts.map(({ usage }) => usage.output_tokens), [30]);
    await gateway.verify();
  });
}

Deno.test("the answer of a dead node is made again, unless it was charged; answers are sealed and end after a day", async () => {
  await using gateway = await openChatGateway();
  const { sql } = gateway.gateway.database;
  const box = openSecretBox(["a-key-of-the-operator-0123456789"], "idempotent answers");
  const answers = new IdempotentAnswers(sql, box, { error() {} }, { leaseSeconds: 1000 });
  const identity = identifyRequest("k", "/v1/chat/completions", { a: 1 })!;
  const claim = (id = newId("req")) => answers.claim("acc_1", identity, id);
  const held = await claim();
  await assert.rejects(claim(), { code: "idempotency_in_progress" });
  const die = () => sql`update idempotent_answer set lease_until = now() - interval '1 second'`;
  await die();
  // Neither held nor charged: the next request makes it.
  const next = await claim();
  await (held as { release(): Promise<void> }).release();
  await assert.rejects(claim(), { code: "idempotency_in_progress" });
  await (next as { release(): Promise<void> }).release();

  const paid = await gateway.chat("talk", "Hi");
  await paid.text();
  const charged = await claim(paid.headers.get("x-request-id")!);
  await die();
  await assert.rejects(claim(), { code: "idempotency_key_reused" });
  await (charged as { keep(answer: object): Promise<void> }).keep({
    body: "secret",
    isStream: false,
  });
  assert.deepEqual(await claim(), { body: "secret", isStream: false });
  const [row] = await sql<[{ answer: string }]>`select answer from idempotent_answer`;
  assert.ok(!row.answer.includes("secret"));
  await sql`update idempotent_answer set expires_at = now()`;
  await ((await claim()) as { release(): Promise<void> }).release();
});

async function countAnswers({ gateway }: ChatGateway): Promise<number> {
  const [{ n }] = await gateway.database.sql<[{ n: number }]>`
    select count(*)::int as n from idempotent_answer`;
  return n;
}
