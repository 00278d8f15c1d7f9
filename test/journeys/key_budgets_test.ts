import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf, type TestGateway } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

/** The embedded database has one node, and no reserves. */
const ON_SERVER = { ignore: Deno.env.get("TEST_STORE") === "embedded" };

interface Budgeted {
  id: string;
  key: string;
}

async function createKey(gateway: TestGateway, fields: Json = {}): Promise<Budgeted> {
  const path = `/accounts/${gateway.account}/keys`;
  const response = await gateway.admin("POST", path, { name: "budgeted", ...fields });
  assert.equal(response.status, 201, await response.clone().text());
  return await response.json();
}

async function setBudget(gateway: TestGateway, id: string, budget: Json): Promise<Json> {
  const response = await gateway.admin("PATCH", `/keys/${id}`, { budget });
  assert.equal(response.status, 200, await response.clone().text());
  return await response.json();
}

const bearer = ({ key }: Pick<Budgeted, "key">) => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
});

async function spendOf(gateway: TestGateway, key: Budgeted): Promise<Json> {
  return (await (await gateway.get("/v1/key", bearer(key))).json()).spend;
}

function chat(
  gateway: ChatGateway,
  key: Budgeted,
  { model = "by-call", content = "Hello", ...more }: Json = {},
): Promise<Response> {
  return gateway.chat(model, content, more, { headers: bearer(key) });
}

async function openNodes(count: number) {
  await using parts = new AsyncDisposableStack();
  const first = parts.use(await openChatGateway({ cash: "1000" }));
  const nodes = [first];
  while (nodes.length < count) {
    nodes.push(parts.use(await openChatGateway({ beside: first })));
  }
  const closing = parts.move();
  return { nodes, first, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

/** Makes every node draw for the account, with a key that has no budget. */
async function warm(nodes: readonly ChatGateway[]): Promise<void> {
  const { sql } = nodes[0]!.gateway.database;
  await until("every node has a reserve", async () => {
    for (const node of nodes) assert.equal(await statusOf(node.chat("talk", "Hello")), 200);
    return (await sql`select from reserve`).length === nodes.length;
  });
}

for (const count of [1, 3]) {
  Deno.test({
    name:
      `50 chats at once over ${count} nodes: the 10 that the budget covers get 200, the others 402`,
    ...(count === 1 ? {} : ON_SERVER),
    async fn() {
      await using opened = await openNodes(count);
      const { nodes, first } = opened;
      if (first.gateway.database.kind === "server") await warm(nodes);
      const key = await createKey(first, { budget: { amount: "10", period: "day" } });
      const calls = Array.from({ length: 50 }, (_, at) => chat(nodes[at % count]!, key));
      const others = Array.from(
        { length: 20 },
        (_, at) => statusOf(nodes[at % count]!.chat("talk", "Hello")),
      );
      const statuses: number[] = [];
      for (const response of await Promise.all(calls)) {
        statuses.push(response.status);
        if (response.status === 200) {
          await response.body?.cancel();
          continue;
        }
        const { code, type } = await errorOf(response);
        assert.deepEqual([response.status, code, type], [
          402,
          "key_budget_exceeded",
          "insufficient_quota",
        ]);
      }
      assert.equal(statuses.filter((status) => status === 200).length, 10);
      assert.deepEqual(new Set(await Promise.all(others)), new Set([200]), "other keys go on");
      const { amount, held } = await spendOf(first, key);
      assert.deepEqual([amount, held], ["10.00", "0.00"]);
      await first.verify();
    },
  });
}

Deno.test({
  name: "60 streams at once over three nodes never pass a key's budget",
  ...ON_SERVER,
  async fn() {
    await using opened = await openNodes(3);
    const { nodes, first } = opened;
    await warm(nodes);
    const budget = 0.5;
    const key = await createKey(first, { budget: { amount: String(budget), period: "month" } });
    let isDone = false;
    const watching = (async () => {
      while (!isDone) {
        const { amount, held } = await spendOf(first, key);
        assert.ok(Number(amount) + Number(held) <= budget, `${amount} + ${held}`);
      }
    })();
    const asked = { model: "talk", content: "Hi [[simulate: tokens=8]]", max_tokens: 10 };
    const responses = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const response = await chat(nodes[at % 3]!, key, { ...asked, stream: true });
        await response.text();
        return response;
      }),
    );
    isDone = true;
    await watching;
    const served = responses.filter(({ status }) => status === 200);
    assert.ok(served.length > 0 && served.length < 60, String(served.length));
    const charges = await Promise.all(served.map(async (response) => {
      const { settled } = await first.receipt(response);
      return Math.round(Number(settled) * 1e6);
    }));
    const { amount, held } = await spendOf(first, key);
    assert.equal(Math.round(Number(amount) * 1e6), charges.reduce((a, b) => a + b, 0));
    assert.ok(Number(amount) <= budget);
    assert.equal(held, "0.00");
    await first.verify();
  },
});

Deno.test({
  name:
    "a change of a budget takes effect on every node before it is answered, also on keys that drew from reserves",
  ...ON_SERVER,
  async fn() {
    await using opened = await openNodes(2);
    const { nodes, first } = opened;
    const key = await createKey(first);
    const { sql } = first.gateway.database;
    await until("every node has a reserve", async () => {
      for (const node of nodes) assert.equal(await statusOf(chat(node, key)), 200);
      return (await sql`select from reserve`).length === 2;
    });
    const spent = Number((await spendOf(first, key)).amount);
    assert.ok(spent >= 2, "a key without a budget shows what it has spent");
    const set = await setBudget(first, key.id, { amount: String(spent + 1), period: "total" });
    assert.equal(Number(set.spend.amount), spent);
    const statuses = await Promise.all(
      [...nodes, ...nodes].map((node) => statusOf(chat(node, key))),
    );
    assert.deepEqual(statuses.toSorted(), [200, 402, 402, 402]);
    await setBudget(first, key.id, { amount: String(spent + 2), period: "total" });
    assert.equal(await statusOf(chat(nodes[1]!, key)), 200);
    assert.equal(await statusOf(chat(nodes[1]!, key)), 402);
    await setBudget(first, key.id, null);
    for (const node of nodes) assert.equal(await statusOf(chat(node, key)), 200);
    await first.verify();
  },
});

Deno.test({
  name:
    "a budget that is set while chats of its key draw from reserves counts them before it is answered",
  ...ON_SERVER,
  async fn() {
    await using opened = await openNodes(2);
    const { nodes, first } = opened;
    const { sql } = first.gateway.database;
    await warm(nodes);
    const key = await createKey(first);
    const slow = nodes.map((node) =>
      statusOf(chat(node, key, { content: "Hello [[simulate: latency=2s]]" }))
    );
    await new Promise((resume) => setTimeout(resume, 500));
    assert.equal((await sql`select from hold`).length, 0, "both have drawn");
    await setBudget(first, key.id, { amount: "2", period: "total" });
    const { amount, held } = await spendOf(nodes[1]!, key);
    assert.deepEqual([amount, held], ["0.00", "2.00"]);
    for (const node of nodes) assert.equal(await statusOf(chat(node, key)), 402);
    assert.deepEqual(await Promise.all(slow), [200, 200]);
    assert.equal((await spendOf(first, key)).amount, "2.00");
    await first.verify();
  },
});

Deno.test("a chat without a limit of its own is limited to what the budget covers; one with a limit is 402", async () => {
  await using gateway = await openChatGateway();
  const key = await createKey(gateway, { budget: { amount: "1", period: "week" } });
  const asked = { model: "talk", content: "Go [[simulate: tokens=900]]" };
  assert.equal(await statusOf(chat(gateway, key, { ...asked, max_tokens: 900 })), 402);
  const { content, ...body } = asked;
  const quoted = await gateway.fetch("/v1/quotes", {
    method: "POST",
    headers: bearer(key),
    body: JSON.stringify({
      path: "/chat/completions",
      body: { ...body, messages: [{ role: "user", content }] },
    }),
  });
  const quote = await quoted.json();
  assert.deepEqual([quote.covered, quote.from.missing], [true, "0.00"]);
  assert.ok(quote.max_tokens < 500 && Number(quote.amount) <= 1, JSON.stringify(quote));
  const limited = await chat(gateway, key, asked);
  assert.equal(limited.status, 200, await limited.clone().text());
  const { usage, choices } = await limited.json();
  assert.equal(choices[0].finish_reason, "length");
  assert.ok(usage.completion_tokens >= 256 && usage.completion_tokens < 500);
  const { amount, renews_at, since } = await spendOf(gateway, key);
  assert.ok(Number(amount) <= 1);
  assert.equal(Date.parse(renews_at) - Date.parse(since), 7 * 86_400_000);
  assert.equal(new Date(since).getUTCDay(), 1, "a week begins on Monday");
  await gateway.verify();
});

Deno.test("tasks count against the budget of their key from the 202 on, and what they do not cost is given back", async () => {
  await using gateway = await openMediaGateway({ cash: "100" });
  const key = await createKey(gateway, { budget: { amount: "0.25", period: "day" } });
  const video = (prompt: string) =>
    gateway.post(
      "/v1/videos/generations",
      { model: "video-model", prompt, duration: 2 },
      bearer(key),
    );
  const first = await (await video("[[simulate: seconds=600]] a tide")).json();
  const second = await (await video("a tide")).json();
  const refused = await video("a tide");
  assert.deepEqual([refused.status, (await errorOf(refused)).code], [402, "key_budget_exceeded"]);
  assert.equal(await gateway.count("task"), 2);
  await gateway.ended(second.id);
  assert.deepEqual([(await spendOf(gateway, key)).amount, (await spendOf(gateway, key)).held], [
    "0.10",
    "0.10",
  ]);
  assert.equal(await statusOf(gateway.post(`/v1/tasks/${first.id}/cancel`, {})), 202);
  await gateway.ended(first.id);
  const { amount, held } = await spendOf(gateway, key);
  assert.equal(held, "0.00");
  const listed = await (await gateway.admin("GET", `/accounts/${gateway.account}/keys`)).json();
  assert.equal(listed.data.find(({ id }: Json) => id === key.id).spend.amount, amount);
  assert.equal(await statusOf(video("a tide")), 202);
  await gateway.verify();
});
