import assert from "node:assert/strict";
import { type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { openConsole, shippedWith } from "../helpers/console_gateway.ts";
import { errorOf, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

const MODELS = "/v1/models";

async function createKey(gateway: TestGateway, fields: Json): Promise<Json> {
  const response = await gateway.admin("POST", `/accounts/${gateway.account}/keys`, {
    name: "restricted",
    ...fields,
  });
  const text = await response.text();
  assert.equal(response.status, 201, text);
  return JSON.parse(text);
}

async function patch(gateway: TestGateway, id: string, body: Json): Promise<Json> {
  const response = await gateway.admin("PATCH", `/keys/${id}`, body);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}

const bearer = (key: string, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${key}`,
  ...more,
});

Deno.test("a key shows itself and what it may do at GET /v1/key, and not its text", async () => {
  await using gateway = await openGateway({ config: await shippedWith() });
  const given = {
    expires_at: "2100-01-01T00:00:00.000Z",
    models: ["sim-*"],
    limits: { requests_per_minute: 30, tokens_per_minute: null },
    allowed_ips: ["127.0.0.0/8", "::1"],
    log_bodies: false,
    budget: { amount: "25.00", period: "month" },
  };
  const { key, ...created } = await createKey(gateway, given);
  const shown = await (await gateway.get("/v1/key", bearer(key))).json();
  assert.deepEqual({ ...shown, last_used: null }, { ...created, last_used: null });
  for (const [name, value] of Object.entries(given)) assert.deepEqual(shown[name], value, name);
  const plain = await (await gateway.get("/v1/key")).json();
  assert.deepEqual(
    [
      plain.expires_at,
      plain.models,
      plain.limits,
      plain.allowed_ips,
      plain.log_bodies,
      plain.budget,
    ],
    [null, null, null, null, true, null],
  );
});

Deno.test("an expired key gets 401 api_key_expired on every node, and works again when its end is moved", async () => {
  await using gateway = await openGateway();
  await using other = await openGateway({ beside: gateway });
  const { key, id } = await createKey(gateway, {
    expires_at: new Date(Date.now() + 1500).toISOString(),
  });
  for (const node of [gateway, other]) {
    assert.equal(await statusOf(node.get(MODELS, bearer(key))), 200);
  }
  await new Promise((resolve) => setTimeout(resolve, 1600));
  for (const node of [gateway, other]) {
    const response = await node.get(MODELS, bearer(key));
    assert.equal(response.status, 401);
    const { code, type } = await errorOf(response);
    assert.deepEqual([code, type], ["api_key_expired", "authentication_error"]);
  }
  await patch(gateway, id, { expires_at: null });
  for (const node of [gateway, other]) {
    assert.equal(await statusOf(node.get(MODELS, bearer(key))), 200);
  }
});

Deno.test("a key for some models neither sees nor uses the others, on every node before the change is answered", async () => {
  const config = await shippedWith();
  await using gateway = await openGateway({ config });
  await using other = await openGateway({ beside: gateway, config });
  const { key, id } = await createKey(gateway, { models: ["sim-image"] });
  const listed = async (node: TestGateway) =>
    (await (await node.get(MODELS, bearer(key))).json()).data.map((model: Json) => model.id);
  const chat = (node: TestGateway) =>
    node.fetch("/v1/chat/completions", {
      method: "POST",
      headers: bearer(key, { "content-type": "application/json" }),
      body: JSON.stringify({ model: "sim-chat", messages: [{ role: "user", content: "Hi" }] }),
    });
  for (const node of [gateway, other]) {
    assert.deepEqual(await listed(node), ["sim-image"]);
    const prices = await (await node.get("/v1/pricing/models", bearer(key))).json();
    assert.deepEqual(prices.data.map((price: Json) => price.model), ["sim-image"]);
    const refused = await chat(node);
    assert.equal(refused.status, 404);
    const { code, param } = await errorOf(refused);
    assert.deepEqual([code, param], ["model_unavailable", "model"]);
    assert.equal(await statusOf(node.get("/v1/models/sim-chat", bearer(key))), 404);
  }
  await patch(gateway, id, { models: ["sim-im*", "sim-chat"] });
  for (const node of [gateway, other]) {
    assert.deepEqual(await listed(node), ["sim-chat", "sim-image", "sim-image-fast"]);
    assert.equal(await statusOf(chat(node)), 402, "the model is found; the account has no money");
  }
});

Deno.test("the rates of a key are its own, and never more than those of its plan", async () => {
  await using gateway = await openChatGateway({ cash: "5" });
  const { key, id } = await createKey(gateway, { limits: { requests_per_minute: 2 } });
  const limits: (string | null)[] = [];
  const statuses: number[] = [];
  for (let n = 0; n < 3; n++) {
    const response = await gateway.get(MODELS, bearer(key));
    await response.body?.cancel();
    statuses.push(response.status);
    limits.push(response.headers.get("x-ratelimit-limit"));
  }
  assert.deepEqual([statuses, limits], [[200, 200, 429], ["2", "2", "2"]]);
  assert.equal(await statusOf(gateway.get(MODELS)), 200, "another key has its own rate");
  const unlimited = await gateway.get(MODELS);
  await unlimited.body?.cancel();
  const plan = unlimited.headers.get("x-ratelimit-limit");
  await patch(gateway, id, { limits: { requests_per_minute: 1_000_000 } });
  const raised = await gateway.get(MODELS, bearer(key));
  await raised.body?.cancel();
  assert.equal(raised.headers.get("x-ratelimit-limit"), plan);
  await patch(gateway, id, { limits: { tokens_per_minute: 1 } });
  const chat = () =>
    gateway.chat("talk", "Hello", {}, {
      headers: bearer(key, { "content-type": "application/json" }),
    });
  assert.equal(await statusOf(chat()), 200, "a request may take the whole rate");
  assert.equal(await statusOf(chat()), 429);
});

Deno.test("a key is refused from other addresses: by the peer, or by what a trusted proxy reports", async () => {
  await using gateway = await openGateway();
  const { key, id } = await createKey(gateway, {
    allowed_ips: ["203.0.113.0/24", "2001:db8::/32"],
  });
  const from = (forwarded: string) => ({ "x-forwarded-for": forwarded });
  const refused = await gateway.get(MODELS, bearer(key, from("203.0.113.9")));
  assert.equal(refused.status, 403, "no proxy is trusted: the header is the client's own claim");
  const { code, type } = await errorOf(refused);
  assert.deepEqual([code, type], ["ip_not_allowed", "permission_error"]);
  await patch(gateway, id, { allowed_ips: ["127.0.0.1", "::1"] });
  assert.equal(await statusOf(gateway.get(MODELS, bearer(key))), 200);

  const config = `${await shippedWith()}`.replace(/^site:$/m, "site:\n  trusted_proxies: 1");
  await using behind = await openGateway({ config });
  const own = await createKey(behind, { allowed_ips: ["203.0.113.0/24", "2001:db8::/32"] });
  const statuses = new Map([
    ["203.0.113.9", 200],
    ["198.51.100.1, 203.0.113.9", 200],
    ["203.0.113.9, 198.51.100.1", 403],
    ["203.0.113.9:4711", 200],
    ["2001:db8:7::1", 200],
    ["[2001:db8:7::1]:4711", 200],
    ["2001:db9::1", 403],
    ["unknown", 403],
  ]);
  for (const [forwarded, status] of statuses) {
    const response = behind.get(MODELS, bearer(own.key, from(forwarded)));
    assert.equal(await statusOf(response), status, forwarded);
  }
  assert.equal(await statusOf(behind.get(MODELS, bearer(own.key))), 403, "from the proxy itself");
});

Deno.test("restrictions that make no sense are 400 with their field", async () => {
  await using gateway = await openGateway({ config: await shippedWith() });
  const { id } = await createKey(gateway, {});
  const wrong: [Json, string | null][] = [
    [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    [{ expires_at: "tomorrow" }, "expires_at"],
    [{ models: ["nothing-*"] }, "models"],
    [{ allowed_ips: ["10.0.0.0/99"] }, "allowed_ips"],
    [{ limits: { requests_per_minute: 0 } }, "limits.requests_per_minute"],
    [{ budget: { amount: "0", period: "day" } }, "budget.amount"],
    [{ budget: { amount: "1.00", period: "year" } }, "budget.period"],
    [{ name: "BA:mine" }, "name"],
    [{ colour: "red" }, "colour"],
    [{}, null],
  ];
  for (const [body, param] of wrong) {
    const response = await gateway.admin("PATCH", `/keys/${id}`, body);
    assert.equal(response.status, 400, JSON.stringify(body));
    assert.equal((await errorOf(response)).param, param, JSON.stringify(body));
  }
  assert.equal(await statusOf(gateway.admin("PATCH", "/keys/key_0", { name: "x" })), 404);
  await (await gateway.admin("DELETE", `/keys/${id}`)).body?.cancel();
  assert.equal(await statusOf(gateway.admin("PATCH", `/keys/${id}`, { name: "x" })), 404);
});

Deno.test("a change of a key is in the audit log with the fields that changed", async () => {
  await using gateway = await openGateway();
  const { id } = await createKey(gateway, {});
  await patch(gateway, id, { name: "new", budget: { amount: "5", period: "week" } });
  const { data } = await (await gateway.admin("GET", "/audit?action=key.update")).json();
  assert.deepEqual(data[0].before, { name: "restricted", budget: null });
  assert.deepEqual(data[0].after, { name: "new", budget: { amount: "5.00", period: "week" } });
});

Deno.test("a member restricts a key in the console, when it is made and later", async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  const made = await person.post("/console/keys", {
    name: "laptop",
    models: "sim-chat, sim-im*",
    allowed_ips: "127.0.0.1\n::1",
    requests_per_minute: "30",
    expires_on: "2100-01-01",
    budget_amount: "10.00",
    budget_period: "month",
  });
  const location = made.headers.get("location")!;
  await made.body?.cancel();
  const key = /sk-\w{43}/.exec(await person.read(location))![0];
  const shown = await (await gateway.get("/v1/key", bearer(key))).json();
  assert.deepEqual(shown.models, ["sim-chat", "sim-im*"]);
  assert.deepEqual(shown.allowed_ips, ["127.0.0.1", "::1"]);
  assert.deepEqual(shown.limits, { requests_per_minute: 30, tokens_per_minute: null });
  assert.equal(shown.expires_at, "2100-01-01T00:00:00.000Z");
  assert.deepEqual(shown.budget, { amount: "10.00", period: "month" });
  assert.equal(shown.log_bodies, true);

  const list = await person.read("/console/keys");
  assert.match(list.replace(/<[^>]+>/g, ""), /\$0\.00 of \$10\.00/, "what it spent of its budget");
  const page = await person.read(`/console/keys/${shown.id}`);
  assert.match(page, /sim-im\*/);
  const wrong = await person.post(`/console/keys/${shown.id}`, {
    name: "laptop",
    allowed_ips: "x",
  });
  assert.equal(wrong.status, 400);
  assert.match(await wrong.text(), /no address or network/);
  const saved = await person.post(`/console/keys/${shown.id}`, { name: "phone", no_bodies: "on" });
  await saved.body?.cancel();
  assert.equal(saved.status, 303);
  const after = await (await gateway.get("/v1/key", bearer(key))).json();
  assert.deepEqual([after.name, after.models, after.limits, after.budget, after.log_bodies], [
    "phone",
    null,
    null,
    null,
    false,
  ]);
  const other = await gateway.register("other@example.org");
  assert.equal(await statusOf(other.get(`/console/keys/${shown.id}`)), 404);
  assert.equal(await statusOf(other.post(`/console/keys/${shown.id}`, { name: "mine" })), 404);
});
