import assert from "node:assert/strict";
import OpenAI from "openai";
import { sleep } from "../../src/lib/timers.ts";
import { type ChatGateway, type Json, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { post } from "../helpers/dialects.ts";
import { errorOf } from "../helpers/open_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";
import { addTo } from "../helpers/webhook_gateway.ts";

const CONFIG = await Deno.readTextFile(new URL("../helpers/chat_config.yaml", import.meta.url));
const WITH_WEBHOOKS = `${CONFIG}
webhooks: { retry_seconds: [0, 0], timeout_seconds: 5 }
outbound: { allow_private: true }
`;

const send = (gateway: ChatGateway, body: object, headers: Record<string, string> = {}) =>
  post(gateway, "/responses", { model: "talk", background: true, ...body }, headers);

async function created(gateway: ChatGateway, body: object): Promise<Json> {
  const res = await send(gateway, body);
  assert.equal(res.status, 200, await res.clone().text());
  return await res.json();
}

const find = async (gateway: ChatGateway, id: string): Promise<Json> =>
  await (await gateway.get(`/v1/responses/${id}`)).json();

async function ended(gateway: ChatGateway, id: string): Promise<Json> {
  let found: Json;
  await until(`${id} has ended`, async () => {
    found = await find(gateway, id);
    return found.status !== "queued" && found.status !== "in_progress";
  }, 30);
  return found;
}

const cancel = (gateway: ChatGateway, id: string) =>
  post(gateway, `/responses/${id}/cancel`, undefined);

const textIn = ({ output }: Json): string =>
  output.flatMap((item: Json) => item.content ?? []).map(({ text }: Json) => text).join("");

const receiptOf = async (gateway: ChatGateway, { id }: Json): Promise<Json> =>
  await (await gateway.get(`/v1/usage/${id.replace("resp", "req")}`)).json();

const UNSPENT = { available: "100.00", frozen: "0.00" };

Deno.test("OpenAI's library creates a background response, polls it until it is completed, and continues it", async () => {
  await using gateway = await openChatGateway();
  const { key: apiKey, address } = gateway;
  const client = new OpenAI({ apiKey, baseURL: `${address}/v1`, maxRetries: 0 });
  const asked = { model: "talk", input: "Say something about tides.", metadata: { topic: "sea" } };
  const queued = await client.responses.create({ ...asked, background: true });
  assert.deepEqual([queued.status, queued.background, queued.output], ["queued", true, []]);
  let response = queued;
  while (response.status === "queued" || response.status === "in_progress") {
    response = await client.responses.retrieve(queued.id);
  }
  assert.equal(response.status, "completed");
  assert.deepEqual(
    [response.id, response.created_at, response.background, response.metadata],
    [queued.id, queued.created_at, true, { topic: "sea" }],
  );
  const receipt = await receiptOf(gateway, response);
  assert.deepEqual(
    [receipt.usage.input_tokens, receipt.usage.output_tokens, receipt.model],
    [response.usage!.input_tokens, response.usage!.output_tokens, "talk"],
  );
  const items = await client.responses.inputItems.list(queued.id);
  assert.equal(items.data.length, 1);
  // The same request without `background` has the same answer.
  const atOnce = await client.responses.create(asked);
  assert.equal(response.output_text, atOnce.output_text);
  assert.deepEqual(response.usage, atOnce.usage);

  const next = await client.responses.create({
    model: "talk",
    previous_response_id: queued.id,
    input: "And now?",
  });
  assert.ok(next.usage!.input_tokens > response.usage!.input_tokens);
  const last = await created(gateway, { previous_response_id: next.id, input: "And then?" });
  const { status, usage } = await ended(gateway, last.id);
  assert.equal(status, "completed");
  assert.ok(usage.input_tokens > next.usage!.input_tokens);
  await gateway.verify();
});

Deno.test("a model that does not stream, one that reasons and one with a short limit answer in the background too", async () => {
  await using gateway = await openChatGateway();
  const plain = await created(gateway, { model: "plain", input: "Hello" });
  assert.ok(textIn(await ended(gateway, plain.id)).length > 0);
  const thinking = await created(gateway, {
    model: "think",
    input: "Why is the sky blue?",
    reasoning: { summary: "auto" },
    max_output_tokens: 500,
  });
  const { output: [reasoning] } = await ended(gateway, thinking.id);
  assert.ok(reasoning.summary[0].text.length > 0);
  assert.equal(reasoning.encrypted_content, undefined);
  const short = await created(gateway, {
    input: "Tell me all. [[simulate: tokens=50]]",
    max_output_tokens: 16,
  });
  const { status, incomplete_details } = await ended(gateway, short.id);
  assert.deepEqual([status, incomplete_details], ["incomplete", { reason: "max_output_tokens" }]);
  await gateway.verify();
});

Deno.test("the answer in the background is in progress while it is made, and cannot be continued before its end", async () => {
  await using gateway = await openChatGateway();
  const { id } = await created(gateway, { model: "slow", input: "Talk [[simulate: tokens=200]]" });
  await until("it is in progress", async () => (await find(gateway, id)).status === "in_progress");
  const early = await send(gateway, { previous_response_id: id, input: "More" });
  const error = await errorOf(early);
  assert.deepEqual([early.status, error.param], [400, "previous_response_id"]);
  assert.match(error.message, /has not ended/);
  const task: Json = (await (await gateway.get("/v1/tasks?type=chat")).json()).data[0];
  assert.deepEqual([task.status, task.model, task.response_id], ["running", "slow", id]);
  assert.notEqual((await gateway.balance()).frozen, "0.00");
  assert.equal((await ended(gateway, id)).status, "completed");
  assert.equal((await gateway.balance()).frozen, "0.00");
  await gateway.verify();
});

Deno.test("cancel ends a background response at once, costs nothing, and may be repeated", async () => {
  await using gateway = await openChatGateway();
  const client = new OpenAI({
    apiKey: gateway.key,
    baseURL: `${gateway.address}/v1`,
    maxRetries: 0,
  });
  const { id } = await created(gateway, { model: "slow", input: "Talk [[simulate: tokens=900]]" });
  await until("it is in progress", async () => (await find(gateway, id)).status === "in_progress");
  const cancelled = await client.responses.cancel(id);
  assert.deepEqual([cancelled.status, cancelled.output, cancelled.usage], ["cancelled", [], null]);
  assert.deepEqual(await client.responses.cancel(id), cancelled);
  assert.deepEqual(await find(gateway, id), await (await cancel(gateway, id)).json());
  assert.deepEqual(await gateway.balance(), UNSPENT);
  assert.equal((await receiptOf(gateway, { id })).settled, "0.00");
  const after = await send(gateway, { previous_response_id: id, input: "More" });
  assert.deepEqual([after.status, (await errorOf(after)).param], [400, "previous_response_id"]);

  const done = await ended(gateway, (await created(gateway, { input: "Hello" })).id);
  assert.deepEqual(await (await cancel(gateway, done.id)).json(), done);
  await gateway.verify();
});

Deno.test("400 for the cancel of a response that was not made in the background, 404 for another account's", async () => {
  await using gateway = await openChatGateway();
  const atOnce = await (await send(gateway, { background: false, input: "Hello" })).json();
  const refused = await cancel(gateway, atOnce.id);
  assert.deepEqual([refused.status, (await errorOf(refused)).param], [400, "response_id"]);
  const own = await created(gateway, { model: "slow", input: "Talk [[simulate: tokens=200]]" });
  const other = { ...gateway, key: (await gateway.newKey({ name: "other" })).key };
  const stolen = await cancel(other, own.id);
  assert.deepEqual([stolen.status, (await errorOf(stolen)).code], [404, "response_not_found"]);
  const seen = await gateway.get(`/v1/responses/${own.id}`, {
    authorization: `Bearer ${other.key}`,
  });
  assert.equal(seen.status, 404, await seen.text());
  assert.equal((await ended(gateway, own.id)).status, "completed");
});

Deno.test("cancels that race with the end leave one outcome, and the books agree with it", async () => {
  await using gateway = await openChatGateway();
  const pairs = await Promise.all(Array.from({ length: 20 }, async (_, at) => {
    const { id } = await created(gateway, {
      model: "slow",
      input: "Talk [[simulate: tokens=8]]",
      max_output_tokens: 50,
    });
    await new Promise((resume) => setTimeout(resume, at * 25));
    return [id, await (await cancel(gateway, id)).json()] as const;
  }));
  for (const [id, answer] of pairs) {
    assert.match(answer.status, /^(cancelled|completed)$/);
    assert.deepEqual(await find(gateway, id), answer);
    const { settled } = await receiptOf(gateway, { id });
    assert.equal(Number(settled) > 0, answer.status === "completed", `${answer.status} ${settled}`);
  }
  assert.equal((await gateway.balance()).frozen, "0.00");
  await gateway.verify();
});

Deno.test("402 when the balance is short, and nothing is stored; without a limit of its own it is what the balance covers", async () => {
  await using gateway = await openChatGateway({ cash: "1.50" });
  const refused = await send(gateway, { input: "Hello", max_output_tokens: 1000 });
  assert.deepEqual([refused.status, (await errorOf(refused)).code], [402, "insufficient_balance"]);
  const id = refused.headers.get("x-request-id")!.replace("req", "resp");
  const gone = await gateway.get(`/v1/responses/${id}`);
  assert.equal(gone.status, 404, await gone.text());
  const fitting = await created(gateway, { input: "Talk. [[simulate: tokens=900]]" });
  const { status, usage } = await ended(gateway, fitting.id);
  assert.equal(status, "incomplete");
  assert.ok(usage.output_tokens < 900, String(usage.output_tokens));
  await gateway.verify();
});

Deno.test("400 by name for what cannot be in the background, and nothing is held", async () => {
  await using gateway = await openChatGateway();
  for (
    const [more, param] of [
      [{ store: false }, "store"],
      [{ stream: true }, "stream"],
      [{ input: "x".repeat(6000) }, "input"],
      [{ tools: [{ type: "code_interpreter", container: {} }] }, "tools.0.type"],
    ] as const
  ) {
    const res = await send(gateway, { input: "Hello", ...more });
    const error = await errorOf(res);
    assert.deepEqual([res.status, error.param], [400, param], error.message);
  }
  const streamed = await gateway.get("/v1/responses/resp_1?stream=true");
  assert.deepEqual([streamed.status, (await errorOf(streamed)).param], [400, "stream"]);
  assert.deepEqual(await gateway.balance(), UNSPENT);
  const named = await send(gateway, { input: "Hello", zebra: 1 });
  assert.equal(named.headers.get("x-ignored-fields"), "zebra");
  await ended(gateway, (await named.json()).id);
});

Deno.test("a request with an Idempotency-Key is made once, and its repeat shows the response as it is now", async () => {
  await using gateway = await openChatGateway();
  const key = { "idempotency-key": "tides" };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => send(gateway, { input: "Hello" }, key)),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(answers.filter(({ headers }) => !headers.has("idempotent-replayed")).length, 1);
  const ids = new Set(
    (await Promise.all(answers.map((res) => res.json()))).map(({ id }: Json) => id),
  );
  assert.equal(ids.size, 1);
  const response = await ended(gateway, [...ids][0]);
  const again = await send(gateway, { input: "Hello" }, key);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(await again.json(), response);
  const other = await send(gateway, { input: "Goodbye" }, key);
  assert.deepEqual([other.status, (await errorOf(other)).code], [400, "idempotency_key_reused"]);
  await gateway.verify();
});

Deno.test("a provider that fails for a moment is called again; one that keeps failing costs nothing", async () => {
  await using gateway = await openChatGateway();
  const once = await created(gateway, { input: "Hello [[simulate: status=500, fail=1, name=bg]]" });
  assert.equal((await ended(gateway, once.id)).status, "completed");
  const cut = await created(gateway, { input: "Hello [[simulate: cut=6, fail=1, name=bgcut]]" });
  assert.equal((await ended(gateway, cut.id)).status, "completed");
  const spent = await gateway.balance();
  const { id } = await created(gateway, { model: "sick", input: "Hello" });
  const failed = await ended(gateway, id);
  assert.deepEqual(
    [failed.status, failed.error.code, failed.output],
    ["failed", "server_error", []],
  );
  assert.doesNotMatch(JSON.stringify(failed), /simulat/i);
  assert.deepEqual(await gateway.balance(), spent);
  const rejected = await created(gateway, { input: "Hello [[simulate: status=400]]" });
  const { error } = await ended(gateway, rejected.id);
  assert.equal(error.code, "invalid_prompt");
  await gateway.verify();
});

Deno.test("DELETE cancels a background response that has not ended", async () => {
  await using gateway = await openChatGateway();
  const { id } = await created(gateway, { model: "slow", input: "Talk [[simulate: tokens=900]]" });
  await until("it is in progress", async () => (await find(gateway, id)).status === "in_progress");
  const deleted = await gateway.fetch(`/v1/responses/${id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  assert.deepEqual(await deleted.json(), { id, object: "response", deleted: true });
  const gone = await gateway.get(`/v1/responses/${id}`);
  assert.equal(gone.status, 404, await gone.text());
  assert.deepEqual(await gateway.balance(), UNSPENT);
  await gateway.verify();
});

Deno.test("the end of a background response is told by a webhook that OpenAI's library verifies", async () => {
  await using receiver = startReceiver();
  await using gateway = await openChatGateway({ config: WITH_WEBHOOKS });
  const { secret } = await addTo(gateway, receiver);
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.address}/v1` });
  const expected = new Map<string, string>();
  const begin = async (type: string, body: object) => {
    const { id } = await created(gateway, body);
    expected.set(id, type);
    return id;
  };
  await begin("response.completed", { input: "Hello" });
  await begin("response.incomplete", {
    input: "Talk. [[simulate: tokens=50]]",
    max_output_tokens: 16,
  });
  await begin("response.failed", { input: "Hello [[simulate: status=400]]" });
  const stopped = await begin("response.cancelled", {
    model: "slow",
    input: "Talk [[simulate: tokens=900]]",
  });
  await (await cancel(gateway, stopped)).body?.cancel();
  await until("all are told", () => receiver.received.length === expected.size, 30);
  for (const { body, headers } of receiver.received) {
    const event: Json = await client.webhooks.unwrap(body, headers, secret);
    assert.equal(event.type, expected.get(event.data.id));
    assert.equal(`response.${(await find(gateway, event.data.id)).status}`, event.type);
    assert.deepEqual([event.object, event.created_at], ["event", event.created]);
  }
});

Deno.test("tokens per minute make a background response wait, not fail", async () => {
  await using gateway = await openChatGateway();
  const changed = await gateway.admin("PATCH", `/accounts/${gateway.account}`, {
    plan: "few-tokens",
  });
  assert.equal(changed.status, 200, await changed.text());
  const first = await created(gateway, { input: "Talk. [[simulate: tokens=90]]" });
  const { usage: { total_tokens } } = await ended(gateway, first.id);
  assert.ok(total_tokens > 90);
  const second = await created(gateway, { input: "Hello" });
  await sleep(1_500);
  assert.equal((await find(gateway, second.id)).status, "queued");
  await (await cancel(gateway, second.id)).body?.cancel();
  await gateway.verify();
});

Deno.test("a response in progress is finished and charged though its account is suspended; a closed one makes no more", async () => {
  await using gateway = await openChatGateway();
  const change = async (status: string) => {
    const res = await gateway.admin("PATCH", `/accounts/${gateway.account}`, { status });
    assert.equal(res.status, 200, await res.text());
  };
  const { id } = await created(gateway, { model: "slow", input: "Talk [[simulate: tokens=60]]" });
  await until("it is in progress", async () => (await find(gateway, id)).status === "in_progress");
  await change("suspended");
  const hidden = await gateway.get(`/v1/responses/${id}`);
  assert.deepEqual([hidden.status, (await errorOf(hidden)).code], [403, "account_suspended"]);
  await sleep(2_000);
  await change("active");
  assert.equal((await ended(gateway, id)).status, "completed");
  assert.ok(Number((await receiptOf(gateway, { id })).settled) > 0);

  const waiting = await created(gateway, { input: "Hi [[simulate: status=429, retry_after=60]]" });
  const later = waiting.id.replace("resp", "req");
  await change("closed");
  const { sql } = gateway.gateway.database;
  await until("its task is cancelled", async () => {
    const [task] = await sql<{ status: string }[]>`
      select status from task where request_id = ${later}`;
    return task!.status === "cancelled";
  }, 30);
  await gateway.verify();
});
