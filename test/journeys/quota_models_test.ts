import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const CHATS = await Deno.readTextFile(new URL("../helpers/chat_config.yaml", import.meta.url));
const MEDIA = await Deno.readTextFile(new URL("../helpers/media_config.yaml", import.meta.url));

/** A gateway whose account has a quota of so many tokens for the model `talk`. */
async function openLimited(amount: number, cash = "100"): Promise<ChatGateway> {
  const plan = `plans:\n  chosen: { quotas: { text: { amount: ${amount}, models: [talk] } } }\n`;
  const gateway = await openChatGateway({ config: CHATS.replace("plans:\n", plan), cash });
  const res = await gateway.admin("PUT", `/accounts/${gateway.account}/plan`, { plan: "chosen" });
  assert.equal(res.status, 200, await res.clone().text());
  assert.deepEqual((await res.json()).balance.quota_models, { text: ["talk"] });
  const preview = await gateway.admin("GET", `/accounts/${gateway.account}/preview?plan=free`);
  const { before, after } = (await preview.json()).quotas;
  assert.deepEqual([before.text, after.text], [{ amount, models: ["talk"] }, 0]);
  return gateway;
}

const balanceOf = async (gateway: ChatGateway): Promise<Json> =>
  await (await gateway.get("/v1/balance")).json();

const quoteOf = async (gateway: ChatGateway, model: string): Promise<Json> => {
  const body = { model, messages: [{ role: "user", content: "Hello" }], max_tokens: 20 };
  const res = await gateway.fetch("/v1/quotes", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ path: "/chat/completions", body }),
  });
  assert.equal(res.status, 200, await res.clone().text());
  return await res.json();
};

Deno.test(
  "a quota for chosen models pays for those and for no others, streamed or whole",
  STRICT,
  async () => {
    await using gateway = await openLimited(100_000);
    for (const stream of [false, true]) {
      const chosen = await gateway.chat("talk", "Hello", { max_tokens: 20, stream });
      assert.equal(chosen.status, 200);
      await chosen.text();
      const { from, settled } = await gateway.receipt(chosen);
      assert.ok(from.quota > 0, JSON.stringify(from));
      assert.equal(settled, "0.00");

      const before = (await balanceOf(gateway)).quotas.text;
      const other = await gateway.chat("think", "Hello", { max_tokens: 20, stream });
      assert.equal(other.status, 200);
      await other.text();
      const paid = await gateway.receipt(other);
      assert.equal(paid.from.quota, 0);
      assert.ok(Number(paid.settled) > 0);
      assert.equal((await balanceOf(gateway)).quotas.text, before);
    }
    const { quotas, quota_models } = await balanceOf(gateway);
    assert.ok(quotas.text < 100_000);
    assert.deepEqual(quota_models, { text: ["talk"] });
    assert.ok((await quoteOf(gateway, "talk")).from.quota > 0);
    const quote = await quoteOf(gateway, "think");
    assert.equal(quote.from.quota, 0);
    assert.ok(Number(quote.from.cash) > 0);
    await gateway.verify();
  },
);

Deno.test(
  "without money, other models are refused whatever is left of the quota",
  STRICT,
  async () => {
    await using gateway = await openLimited(100_000, "0");
    const other = await gateway.chat("think", "Hello", { max_tokens: 20 });
    assert.equal(other.status, 402, await other.text());
    assert.equal((await quoteOf(gateway, "think")).covered, false);
    const chosen = await gateway.chat("talk", "Hello", { max_tokens: 20 });
    assert.equal(chosen.status, 200, await chosen.text());
    await gateway.verify();
  },
);

Deno.test(
  "many chats at once take no more of the quota than it has, and only for its models",
  STRICT,
  async () => {
    await using gateway = await openLimited(300);
    const models = Array.from({ length: 60 }, (_, n) => n % 2 === 0 ? "talk" : "think");
    const receipts = await Promise.all(models.map(async (model) => {
      const res = await gateway.chat(model, "Hello [[simulate: tokens=10]]", { max_tokens: 10 });
      assert.equal(res.status, 200, await res.text());
      return await gateway.receipt(res);
    }));
    let used = 0;
    for (const [at, { from, settled }] of receipts.entries()) {
      used += from.quota;
      if (models[at] === "think") assert.deepEqual([from.quota, Number(settled) > 0], [0, true]);
    }
    const { quotas } = await balanceOf(gateway);
    assert.equal(used + quotas.text, 300);
    assert.ok(used > 0);
    await gateway.verify();
  },
);

Deno.test("a quota of images for chosen models pays for no other model", STRICT, async () => {
  const config = MEDIA.replace(
    'sketch, billing_type: per_call, price: "0.00"',
    'sketch, billing_type: per_call, price: "0.05"',
  ) +
    "plans: { free: { quotas: { image: { amount: 9, models: [sketch] } } } }\n";
  await using gateway = await openMediaGateway({ config });
  const paidFor = async (model: string) => {
    const body = { model, prompt: "a tide", size: "64x64" };
    const { id } = await gateway.submit("/v1/images/generations", body);
    return (await gateway.ended(id)).charge.from;
  };
  assert.equal((await paidFor("image-model")).quota, 0);
  assert.equal((await paidFor("sketch")).quota, 1);
  assert.equal((await (await gateway.get("/v1/balance")).json()).quotas.image, 8);
  await gateway.verify();
});
