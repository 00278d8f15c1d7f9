import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Json } from "../helpers/chat_gateway.ts";
import { type EmbeddingsGateway, openEmbeddingsGateway } from "../helpers/embeddings_gateway.ts";
import { ADMIN_TOKEN, errorOf } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

async function vectorsOf(response: Response): Promise<number[][]> {
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()).data.map((entry: Json) => entry.embedding);
}

Deno.test("POST /v1/embeddings answers 200 in OpenAI's shape and takes the price of the input tokens", async () => {
  await using gateway = await openEmbeddingsGateway();
  const res = await gateway.embed({ input: ["The gate is open.", "The gate is shut."] });
  assert.equal(res.status, 200);
  assert.equal(res.headers.get("content-type"), "application/json; charset=utf-8");
  const body = await res.json();
  assert.deepEqual(Object.keys(body), ["object", "data", "model", "usage"]);
  assert.deepEqual([body.object, body.model], ["list", "embed"]);
  assert.deepEqual(body.usage, { prompt_tokens: 10, total_tokens: 10 });
  assert.deepEqual(
    body.data.map(({ object, index, embedding }: Json) => [object, index, embedding.length]),
    [["embedding", 0, 1536], ["embedding", 1, 1536]],
  );
  const receipt = await gateway.receipt(res);
  assert.equal(receipt.status, "settled");
  assert.deepEqual(receipt.usage, { input_tokens: 10, calls: 1 });
  assert.equal(receipt.settled, "0.01");
  assert.deepEqual(receipt.price, {
    ...receipt.price,
    billing_type: "token",
    input_price: "1",
    unit: "1K tokens",
  });
  assert.equal(receipt.price.output_price, undefined);
  assert.deepEqual(await gateway.balance(), { available: "99.99", frozen: "0.00" });
  await gateway.verify();
});

Deno.test("a text alone, in a list, as tokens and as base64 gets the same vector", async () => {
  await using gateway = await openEmbeddingsGateway();
  const dimensions = 16;
  const [alone] = await vectorsOf(await gateway.embed({ input: "open sea", dimensions }));
  const [listed, other] = await vectorsOf(
    await gateway.embed({ input: ["open sea", "shut gate"], dimensions }),
  );
  assert.equal(alone!.length, 16);
  assert.deepEqual(listed, alone);
  assert.notDeepEqual(other, alone);
  const coded = await gateway.embed({
    ...{ input: "open sea", dimensions },
    encoding_format: "base64",
  });
  const [{ embedding }] = (await coded.json()).data;
  const bytes = Uint8Array.from(Buffer.from(embedding, "base64"));
  assert.deepEqual(new Float32Array(bytes.buffer), Float32Array.from(alone!));
  const tokens = await vectorsOf(await gateway.embed({ input: [[1, 2], [1, 2], [3]] }));
  assert.equal(tokens.length, 3);
  assert.deepEqual(tokens[0], tokens[1]);
  const [flat] = await vectorsOf(await gateway.embed({ input: [1, 2] }));
  assert.deepEqual(flat, tokens[0]);
  await gateway.verify();
});

Deno.test("POST /v1/embeddings answers 400 with the field at fault, and holds nothing", async () => {
  await using gateway = await openEmbeddingsGateway();
  const long = "many words ".repeat(40);
  const cases: [Json, string, string][] = [
    [{}, "missing_field", "input"],
    [{ input: "" }, "invalid_value", "input"],
    [{ input: [] }, "invalid_value", "input"],
    [{ input: ["a", ""] }, "invalid_value", "input.1"],
    [{ input: [[]] }, "invalid_value", "input.0"],
    [{ input: ["a", 1] }, "invalid_value", "input.1"],
    [{ input: [[1], "a"] }, "invalid_value", "input.1"],
    [{ input: [1.5] }, "invalid_value", "input.0"],
    [{ input: [-1] }, "invalid_value", "input.0"],
    [{ input: ["a", "b", "c", "d", "e"] }, "invalid_value", "input"],
    [{ input: long }, "prompt_too_long", "input"],
    [{ input: ["a", long] }, "prompt_too_long", "input.1"],
    [{ input: Array(51).fill(1) }, "prompt_too_long", "input"],
    [{ input: [[1], Array(51).fill(1)] }, "prompt_too_long", "input.1"],
    [{ input: "a", dimensions: 1537 }, "invalid_value", "dimensions"],
    [{ input: "a", dimensions: 0 }, "invalid_value", "dimensions"],
    [{ model: "backed", input: "a", dimensions: 8 }, "invalid_value", "dimensions"],
    [{ input: "a", encoding_format: "binary" }, "invalid_value", "encoding_format"],
    [{ model: "talk", input: "a" }, "capability_not_supported", "model"],
  ];
  for (const [body, code, param] of cases) {
    const res = await gateway.embed(body);
    assert.equal(res.status, 400, JSON.stringify(body));
    const error = await errorOf(res);
    assert.deepEqual([error.code, error.param], [code, param], JSON.stringify(error));
    assert.equal(error.type, "invalid_request_error");
  }
  const unknown = await gateway.embed({ model: "nothing", input: "a" });
  assert.equal(unknown.status, 404);
  assert.equal((await errorOf(unknown)).code, "model_unavailable");
  assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
  assert.equal((await (await gateway.get("/v1/usage")).json()).data.length, 0);
});

Deno.test("fields that other clients send are left out and named, and null is absent", async () => {
  await using gateway = await openEmbeddingsGateway();
  const res = await gateway.embed({
    input: "Hello",
    user: "someone",
    metadata: { team: "red" },
    dimensions: null,
    encoding_format: null,
    input_type: "query",
    truncate: "END",
  });
  assert.equal(res.status, 200, await res.clone().text());
  assert.equal(res.headers.get("x-ignored-fields"), "input_type, truncate");
  await res.body?.cancel();
  const { user, metadata } = await gateway.receipt(res);
  assert.deepEqual([user, metadata], ["someone", { team: "red" }]);
  const plain = await gateway.embed({ model: "embed-latest", input: "Hello" });
  assert.equal(plain.headers.get("x-ignored-fields"), null);
  assert.equal((await plain.json()).model, "embed", "an alias is answered with the model's id");
});

Deno.test("a failing upstream is replaced by the next, and what no upstream answers is 503 and costs nothing", async () => {
  await using gateway = await openEmbeddingsGateway();
  const backed = await gateway.embed({ model: "backed", input: "Hello" });
  assert.equal(backed.status, 200, await backed.clone().text());
  await backed.body?.cancel();
  const row = await (await gateway.get(`/v1/requests/${backed.headers.get("x-request-id")}`))
    .json();
  assert.equal(row.endpoint, "embeddings");
  assert.equal(row.usage.input_tokens, 1);
  const forOperators = await (await gateway.admin("GET", `/requests/${row.id}`)).json();
  assert.deepEqual(
    forOperators.attempts.map(({ provider, outcome }: Json) => [provider, outcome]),
    [["sick", "failed"], ["sim", "ok"]],
  );
  const metrics = await (await gateway.fetch("/metrics", {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })).text();
  assert.match(metrics, /tollgate_model_tokens_total\{[^}]*model="backed"[^}]*\} 1\b/);
  const before = await gateway.balance();
  const failed = await gateway.embed({ model: "sick", input: "Hello" });
  assert.equal(failed.status, 503);
  assert.equal((await errorOf(failed)).code, "upstream_failed");
  assert.deepEqual(await gateway.balance(), before);
  await gateway.verify();
});

Deno.test("a thousand texts may be sent as tokens", async () => {
  await using gateway = await openEmbeddingsGateway({ cash: "10000" });
  const input = Array(1000).fill(Array(300).fill(7));
  const res = await gateway.embed({ model: "backed", input, encoding_format: "base64" });
  assert.equal(res.status, 200, await res.clone().text().then((text) => text.slice(0, 300)));
  assert.equal((await res.json()).data.length, 1000);
  assert.equal((await gateway.receipt(res)).usage.input_tokens, 300_000);
});

Deno.test("a count of tokens that the upstream leaves out is estimated, and the receipt says so", async () => {
  await using gateway = await openEmbeddingsGateway();
  const res = await gateway.embed({ input: "Hello there [[simulate: no_usage]]" });
  const { usage } = await res.json();
  assert.ok(usage.prompt_tokens > 0);
  const receipt = await gateway.receipt(res);
  assert.equal(receipt.usage.estimated, true);
  assert.equal(receipt.usage.input_tokens, usage.prompt_tokens);
  const tokens = await gateway.embed({ input: [5, 6, 7] });
  await tokens.body?.cancel();
  assert.equal((await gateway.receipt(tokens)).usage.input_tokens, 3);
});

Deno.test("POST /v1/embeddings answers 402 without the money for the maximum, and 50 at once never spend more than there is", async () => {
  await using gateway = await openEmbeddingsGateway({ cash: "0" });
  const poor = await gateway.embed({ input: "Hello" });
  assert.equal(poor.status, 402);
  assert.equal((await errorOf(poor)).code, "insufficient_balance");
  // "Hello" is held as 9 tokens and costs one.
  await gateway.credit("0.10");
  const statuses = await Promise.all(
    Array.from({ length: 50 }, () => statusOf(gateway.embed({ input: "Hello" }))),
  );
  const served = statuses.filter((status) => status === 200).length;
  assert.ok(served >= 10, `${served} served`);
  assert.ok(statuses.every((status) => status === 200 || status === 402), statuses.join());
  const { available, frozen } = await gateway.balance();
  assert.equal(frozen, "0.00");
  assert.equal(Number(available).toFixed(3), (0.1 - served / 1000).toFixed(3));
  await gateway.verify();
});

Deno.test("POST /v1/quotes says what a request may cost at most, and refuses what its endpoint refuses", async () => {
  await using gateway = await openEmbeddingsGateway();
  const quote = (body: Json) =>
    gateway.fetch("/v1/quotes", {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ path: "/v1/embeddings", body: { model: "embed", ...body } }),
    });
  const quoted = await (await quote({ input: ["Hello", "x".repeat(2)] })).json();
  assert.deepEqual(quoted.usage, { input_tokens: 5 + 4 + 2 + 4, calls: 1 });
  assert.equal(quoted.amount, "0.015");
  assert.equal(quoted.covered, true);
  const refused = await quote({ input: Array(51).fill(1) });
  assert.equal(refused.status, 400);
  assert.equal((await errorOf(refused)).code, "prompt_too_long");
});

async function keyOf(gateway: EmbeddingsGateway, fields: Json): Promise<Record<string, string>> {
  const path = `/accounts/${gateway.account}/keys`;
  const made = await gateway.admin("POST", path, { name: "restricted", ...fields });
  assert.equal(made.status, 201, await made.clone().text());
  return { authorization: `Bearer ${(await made.json()).key}` };
}

Deno.test("a key with a budget, a list of models or a suspended account is refused as on other endpoints", async () => {
  await using gateway = await openEmbeddingsGateway();
  const budget = { amount: "0.02", period: "total" };
  const budgeted = await keyOf(gateway, { budget });
  assert.equal(await statusOf(gateway.embed({ input: "one two three" }, budgeted)), 200);
  const over = await gateway.embed({ input: "a text of more bytes" }, budgeted);
  assert.equal(over.status, 402);
  assert.equal((await errorOf(over)).code, "key_budget_exceeded");
  const other = await keyOf(gateway, { models: ["talk"] });
  const hidden = await gateway.embed({ input: "Hello" }, other);
  assert.equal(hidden.status, 404);
  await hidden.body?.cancel();
  const suspended = await gateway.admin("PATCH", `/accounts/${gateway.account}`, {
    status: "suspended",
    reason: "test",
  });
  assert.equal(suspended.status, 200, await suspended.clone().text());
  await suspended.body?.cancel();
  const refused = await gateway.embed({ input: "Hello" });
  assert.equal(refused.status, 403);
  assert.equal((await errorOf(refused)).code, "account_suspended");
});

Deno.test("tokens per minute limit embeddings, and a quota of text pays for them", async () => {
  await using gateway = await openEmbeddingsGateway();
  const slow = await gateway.newKey({ name: "slow", plan: "few-tokens" });
  await gateway.admin("POST", `/accounts/${slow.account}/credits`, {
    ...{ kind: "cash", amount: "10", reference: "slow" },
  }).then((res) => res.body?.cancel());
  const headers = { authorization: `Bearer ${slow.key}` };
  const text = "words enough for a minute";
  assert.equal(await statusOf(gateway.embed({ input: text }, headers)), 200);
  const limited = await gateway.embed({ input: text }, headers);
  assert.equal(limited.status, 429);
  assert.equal((await errorOf(limited)).code, "rate_limit_exceeded");

  const included = await gateway.newKey({ name: "included", plan: "texts" });
  const paid = await gateway.embed({ input: "Hello there" }, {
    authorization: `Bearer ${included.key}`,
  });
  assert.equal(paid.status, 200, await paid.clone().text());
  await paid.body?.cancel();
  const path = `/v1/usage/${paid.headers.get("x-request-id")}`;
  const receipt = await (await gateway.get(path, { authorization: `Bearer ${included.key}` }))
    .json();
  assert.deepEqual([receipt.settled, receipt.from.quota], ["0.00", 2], JSON.stringify(receipt));
  await gateway.verify();
});

Deno.test("a repeated request with the same Idempotency-Key gets the first answer and is charged once", async () => {
  await using gateway = await openEmbeddingsGateway();
  const headers = { "idempotency-key": "embed-1" };
  const first = await gateway.embed({ input: "Hello there" }, headers);
  assert.equal(first.status, 200);
  const body = await first.text();
  const again = await gateway.embed({ input: "Hello there" }, headers);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.equal(await again.text(), body);
  const other = await gateway.embed({ input: "Something else" }, headers);
  assert.equal(other.status, 400);
  assert.equal((await errorOf(other)).code, "idempotency_key_reused");
  assert.deepEqual(await gateway.balance(), { available: "99.998", frozen: "0.00" });
  // An answer that is too large to be kept is not made twice either.
  const large = { model: "backed", input: Array(1500).fill("a") };
  const key = { "idempotency-key": "embed-2" };
  const vectors = await vectorsOf(await gateway.embed(large, key));
  assert.equal(vectors.length, 1500);
  const refused = await gateway.embed(large, key);
  assert.equal(refused.status, 400);
  assert.equal((await errorOf(refused)).code, "idempotency_key_reused");
  await gateway.verify();
});

Deno.test("GET /v1/models and /v1/pricing/models show an embedding model with its limits and its price", async () => {
  await using gateway = await openEmbeddingsGateway();
  const { data } = await (await gateway.get("/v1/models?type=embedding")).json();
  assert.deepEqual(data.map(({ id }: Json) => id), ["embed", "backed", "sick"]);
  const model = await (await gateway.get("/v1/models/embed")).json();
  assert.deepEqual(model.capabilities, ["embeddings"]);
  assert.deepEqual(model.limits, { max_inputs: 4, max_input_tokens: 50, max_dimensions: 1536 });
  const prices = (await (await gateway.get("/v1/pricing/models")).json()).data;
  const price = prices.find((each: Json) => each.model === "embed");
  assert.deepEqual([price.input_price, price.output_price], ["1", undefined]);
});
