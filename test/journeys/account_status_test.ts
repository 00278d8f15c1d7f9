import assert from "node:assert/strict";
import { AREAS } from "../../src/http/routes/registry.ts";
import { type Json, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { openConsole, shippedWith } from "../helpers/console_gateway.ts";
import { png } from "../helpers/media.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

const CHAT_CONFIG = new URL("../helpers/chat_config.yaml", import.meta.url);

async function patch(gateway: TestGateway, account: string, body: Json): Promise<Json> {
  const response = await gateway.admin("PATCH", `/accounts/${account}`, body);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}

/** A streamed chat that goes on for a minute, once its first token is here. */
async function startStream(gateway: TestGateway) {
  const response = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "talk",
      stream: true,
      messages: [{ role: "user", content: "[[simulate: tokens=2000, pace=300ms]] a story" }],
    }),
  });
  assert.equal(response.status, 200);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader.read();
  return {
    id: response.headers.get("x-request-id")!,
    async rest(): Promise<string> {
      let text = first.value ?? "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += part.value;
      }
      return text;
    },
  };
}

Deno.test("a suspended account gets 403 on every endpoint under /v1, on every node, and works again when it is resumed", async (t) => {
  await using gateway = await openGateway({ config: await shippedWith() });
  await using other = await openGateway({ beside: gateway, config: await shippedWith() });
  for (const node of [gateway, other]) assert.equal(await statusOf(node.get("/v1/models")), 200);
  const suspended = await patch(gateway, gateway.account, { status: "suspended", reason: "fraud" });
  assert.equal(suspended.status, "suspended");
  const routes = AREAS.flatMap(({ routes }) => routes).filter(({ auth }) => auth === "api_key");
  assert.ok(routes.length > 30);
  for (const { method, path, example, operation } of routes) {
    await t.step(`${method} ${path}`, async () => {
      for (const node of [gateway, other]) {
        const response = await node.fetch(`${operation === undefined ? "" : "/v1"}${path}`, {
          method,
          headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
          ...(method === "GET" ? {} : { body: JSON.stringify(example.body ?? {}) }),
        });
        assert.equal(response.status, 403);
        const { code, type } = await errorOf(response);
        assert.deepEqual([code, type], ["account_suspended", "permission_error"]);
      }
    });
  }
  const { key } = await (await gateway.admin("POST", `/accounts/${gateway.account}/keys`, {
    name: "slow",
    limits: { requests_per_minute: 1 },
  })).json();
  for (let n = 0; n < 3; n++) {
    const response = gateway.get("/v1/models", { authorization: `Bearer ${key}` });
    assert.equal(await statusOf(response), 403, "also beyond its rate");
  }
  assert.equal((await patch(gateway, gateway.account, { status: "active" })).status, "active");
  for (const node of [gateway, other]) assert.equal(await statusOf(node.get("/v1/models")), 200);
});

Deno.test("streams of a suspended account end within the call, on every node, and are billed as far as they came", async () => {
  const config = await Deno.readTextFile(CHAT_CONFIG);
  await using gateway = await openGateway({ config });
  await using other = await openGateway({ beside: gateway, config });
  const credit = { kind: "cash", amount: "10.00", reference: "r" };
  const path = `/accounts/${gateway.account}/credits`;
  assert.equal(await statusOf(gateway.admin("POST", path, credit)), 201);
  const streams = [await startStream(gateway), await startStream(other)];
  await patch(gateway, gateway.account, { status: "suspended" });
  const suspendedAt = performance.now();
  for (const stream of streams) {
    const text = await stream.rest();
    assert.match(text, /"code":"account_suspended"/);
    assert.ok(!text.includes("[DONE]"));
  }
  assert.ok(performance.now() - suspendedAt < 3_000);
  const { balance } = await (await gateway.admin("GET", `/accounts/${gateway.account}`)).json();
  assert.equal(balance.frozen_balance, "0.00");
  assert.ok(Number(balance.available_balance) < 10, "what was streamed is paid");
  const { ok } = await (await gateway.admin("GET", "/ledger/verify")).json();
  assert.ok(ok);
});

Deno.test({
  name:
    "no node draws from a reserve of a suspended account once the call that suspended it returns",
  // The embedded database has no reserves.
  ignore: Deno.env.get("TEST_STORE") === "embedded",
  async fn() {
    const config = await Deno.readTextFile(CHAT_CONFIG);
    await using gateway = await openChatGateway({ config, cash: "1000" });
    await using other = await openChatGateway({ config, beside: gateway });
    const { sql } = gateway.gateway.database;
    const count = async (table: string) => (await sql`select from ${sql(table)}`).length;
    await until("both nodes have a reserve", async () => {
      for (const node of [gateway, other]) {
        assert.equal(await statusOf(node.chat("talk", "Hello")), 200);
      }
      return await count("reserve") === 2;
    });
    const late = await Promise.all([gateway, other].map(startBody));
    await patch(gateway, gateway.account, { status: "suspended" });
    const answers = late.map(({ finish }) => finish());
    await until(
      "requests that came before are held on their own",
      async () => await count("hold") === 2,
      2,
    );
    await until("the reserves are returned", async () => await count("reserve") === 0, 2);
    for (const answer of await Promise.all(answers)) {
      assert.equal(answer.status, 200, await answer.text());
    }
    assert.equal(await statusOf(gateway.chat("talk", "Hello")), 403);
    await gateway.verify();
  },
});

/** A chat that is authenticated, and whose body is not all here. */
async function startBody({ address, key }: TestGateway) {
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const writer = body.writable.getWriter();
  const response = fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body.readable,
  });
  const text = JSON.stringify({
    model: "talk",
    messages: [{ role: "user", content: "Go [[simulate: latency=1500ms tokens=5]]" }],
  });
  const bytes = new TextEncoder().encode(text);
  await writer.write(bytes.subarray(0, 10));
  await new Promise((resume) => setTimeout(resume, 200));
  return {
    async finish(): Promise<Response> {
      await writer.write(bytes.subarray(10));
      await writer.close();
      return await response;
    },
  };
}

Deno.test("the console of a suspended account answers 403, also in sessions that were open before", async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  assert.equal(await statusOf(person.get("/console")), 200);
  await patch(gateway, person.account, { status: "suspended" });
  for (const path of ["/console", "/console/keys", "/account"]) {
    const response = await person.get(path);
    assert.equal(response.status, 403, path);
    assert.match(await response.text(), /suspended/);
  }
  await patch(gateway, person.account, { status: "active" });
  assert.equal(await statusOf(person.get("/console")), 200);
});

Deno.test("signed URLs, followed tasks and keys of a closed account end; its statement stays", async () => {
  await using gateway = await openMediaGateway({ cash: "5" });
  const { sql } = gateway.gateway.database;
  const file = await gateway.upload("a.png", png(64, 64));
  const signed = gateway.gateway.files.signedUrl(file, Date.now()).url;
  const content = signed.slice(new URL(signed).origin.length);
  assert.equal(await statusOf(gateway.fetch(content)), 200);
  const { id } = await gateway.submit("/v1/videos/generations", {
    model: "video-model",
    prompt: "[[simulate: seconds=600]] a tide",
    duration: 1,
  });
  const followed = await gateway.get(`/v1/tasks/${id}/events`);
  assert.equal(followed.status, 200);
  await patch(gateway, gateway.account, { status: "suspended" });
  assert.equal(await statusOf(gateway.fetch(content)), 403);
  await followed.text();

  const closed = await patch(gateway, gateway.account, { status: "closed", reason: "left" });
  assert.equal(closed.status, "closed");
  assert.ok(closed.balance.available_balance !== undefined);
  assert.equal(await statusOf(gateway.get("/v1/models")), 401);
  assert.notEqual(await statusOf(gateway.fetch(content)), 200);
  await until("its task is cancelled", async () => {
    const [row] = await sql`select status from task where id = ${id}`;
    return row!.status === "cancelled";
  });
  const [{ days }] = await sql<[{ days: number }]>`
    select extract(day from max(expires_at) - now())::int as days from file where id = ${file}`;
  assert.ok(days <= 30, String(days));
  const reopened = await gateway.admin("PATCH", `/accounts/${gateway.account}`, {
    status: "active",
  });
  assert.equal(reopened.status, 400);
  assert.equal((await errorOf(reopened)).param, "status");
  const statement = await gateway.admin("GET", `/accounts/${gateway.account}/statement`);
  assert.match(await statement.text(), /credit/);
  const key = await gateway.admin("POST", `/accounts/${gateway.account}/keys`, { name: "k" });
  assert.equal(key.status, 404);
  await key.body?.cancel();
});

Deno.test("who was signed in to a closed account is signed out and cannot sign in", async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  await patch(gateway, person.account, { status: "closed" });
  const response = await person.get("/console");
  await response.body?.cancel();
  assert.equal(response.status, 303);
  assert.match(response.headers.get("location")!, /^\/sign-in/);
});

Deno.test("name, email, plan and price book are changed; the same address twice and unknown names are 400", async () => {
  await using gateway = await openGateway();
  const { account } = gateway;
  const taken = (await gateway.newKey({ name: "other", email: "other@example.com" })).account;
  const changed = await patch(gateway, account, {
    name: "Ann Ltd",
    email: "ann@example.com",
    plan: "pro",
  });
  assert.deepEqual([changed.name, changed.email, changed.plan], [
    "Ann Ltd",
    "ann@example.com",
    "pro",
  ]);
  assert.equal((await patch(gateway, account, { email: null })).email, null);
  for (
    const [body, param] of [
      [{ email: "other@example.com" }, "email"],
      [{ plan: "nothing" }, "plan"],
      [{ price_book: "nothing" }, "price_book"],
      [{ status: "gone" }, "status"],
      [{}, null],
    ] as const
  ) {
    const response = await gateway.admin("PATCH", `/accounts/${account}`, body);
    assert.equal(response.status, 400, JSON.stringify(body));
    assert.equal((await errorOf(response)).param, param);
  }
  assert.equal(await statusOf(gateway.admin("PATCH", "/accounts/acc_0", { name: "x" })), 404);
  assert.equal((await patch(gateway, taken, { name: "b" })).email, "other@example.com");
});

Deno.test("a token without the scope money changes no plan and no price book", async () => {
  await using gateway = await openGateway();
  const { token } = await (await gateway.admin("POST", "/tokens", {
    name: "t",
    scopes: ["support"],
  })).json();
  const send = (body: Json) =>
    gateway.fetch(`/admin/v1/accounts/${gateway.account}`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  assert.equal(await statusOf(send({ name: "New" })), 200);
  const create = (body: Json) =>
    gateway.fetch("/admin/v1/accounts", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  assert.equal(await statusOf(create({ name: "plain" })), 201);
  assert.equal(await statusOf(create({ name: "rich", plan: "pro" })), 403);
  for (const body of [{ plan: "pro" }, { price_book: null }]) {
    const response = await send(body);
    assert.equal(response.status, 403);
    assert.equal((await errorOf(response)).code, "insufficient_scope");
  }
});

Deno.test("a preview shows the limits, quotas and prices of another plan, and changes nothing", async () => {
  await using gateway = await openGateway({ config: await shippedWith() });
  const preview = await (await gateway.admin(
    "GET",
    `/accounts/${gateway.account}/preview?plan=pro`,
  )).json();
  assert.deepEqual(preview.plan, { before: "free", after: "pro" });
  assert.notDeepEqual(preview.limits.before, preview.limits.after);
  const after = await (await gateway.admin("GET", `/accounts/${gateway.account}`)).json();
  assert.equal(after.plan, "free");
  assert.equal(
    await statusOf(gateway.admin("GET", `/accounts/${gateway.account}/preview?plan=none`)),
    400,
  );
});

Deno.test("a correction takes and gives back money once per reference, with a reason, and never what is not there", async () => {
  await using gateway = await openGateway();
  const path = `/accounts/${gateway.account}/credits`;
  const book = async (body: Json) => {
    const response = await gateway.admin("POST", path, body);
    return { status: response.status, body: await response.json() };
  };
  assert.equal((await book({ kind: "cash", amount: "100.00", reference: "typo" })).status, 201);
  const down = { kind: "correction", amount: "-90.00", reference: "fix", reason: "10, not 100" };
  const first = await book(down);
  assert.equal(first.status, 201);
  assert.deepEqual([first.body.kind, first.body.amount, first.body.reason], [
    "correction",
    "-90.00",
    "10, not 100",
  ]);
  assert.equal(first.body.balance.available_balance, "10.00");
  assert.deepEqual((await book(down)).status, 200, "the same reference books once");
  assert.equal((await book({ ...down, amount: "-1.00" })).body.error.param, "reference");
  assert.equal((await book({ ...down, reference: "2", amount: "-10.01" })).status, 402);
  const { reason: _, ...without } = down;
  assert.equal((await book({ ...without, reference: "3" })).body.error.param, "reason");
  assert.equal((await book({ kind: "cash", amount: "-1.00", reference: "4" })).status, 400);
  assert.equal((await book({ ...down, kind: "cash", amount: "1.00" })).body.error.param, "reason");
  const up = await book({ ...down, reference: "5", amount: "2.50" });
  assert.equal(up.body.balance.available_balance, "12.50");
  const statement = await (await gateway.admin("GET", `/accounts/${gateway.account}/statement`))
    .text();
  assert.match(statement, /10, not 100/);
  const { data } = await (await gateway.admin("GET", "/audit?action=account.correct")).json();
  assert.deepEqual(data.map((entry: Json) => entry.after.correction.amount), ["2.50", "-90.00"]);
});

Deno.test("accounts are found by name, email, the end of a key, and the id of a request", async () => {
  await using gateway = await openGateway();
  const { account, key } = await gateway.newKey({ name: "Straßen GmbH", email: "who@example.com" });
  const response = await gateway.get("/v1/models", { authorization: `Bearer ${key}` });
  await response.body?.cancel();
  const searches = ["straßen", "WHO@example", key.slice(-4), response.headers.get("x-request-id")!];
  for (const search of searches) {
    const query = new URLSearchParams({ search });
    const { data } = await (await gateway.admin("GET", `/accounts?${query}`)).json();
    assert.deepEqual(data.map(({ id }: Json) => id), [account], search);
  }
  const { data } = await (await gateway.admin("GET", "/accounts?search=nothing%20like%20it"))
    .json();
  assert.deepEqual(data, []);
});
