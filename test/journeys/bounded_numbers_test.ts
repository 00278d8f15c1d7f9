import assert from "node:assert/strict";
import { startFakeUpstream } from "../helpers/fake_upstream.ts";
import { errorOf, openGateway } from "../helpers/open_gateway.ts";
import { Visitor } from "../helpers/visitor.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

const configuration = (url: string) => `
service: { name: Bounds, currency: EUR }
limits: { default: { requests_per_minute: 1000, tokens_per_minute: 10000 } }
outbound: { allow_private: true }
providers:
  p: { adapter: openai_compatible, base_url: "${url}" }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat]
    limits: { context_tokens: 8000, max_output_tokens: 100 }
    upstreams: [{ provider: p, model: t }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: talk, billing_type: token, unit: 1M tokens, input_price: "1", output_price: "1" }
`;

const answering = (usage: Record<string, number>) => ({
  status: 200,
  body: {
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
    usage,
  },
});

test("an absurd usage of an upstream locks no key, breaks no settlement, and is charged by our own count", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openGateway({ config: configuration(upstream.url) });
  await (await gateway.admin("POST", `/accounts/${gateway.account}/credits`, {
    kind: "cash",
    amount: "5.00",
    reference: "start",
  })).text();
  const ask = () =>
    gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "talk", messages: [{ role: "user", content: "hello" }] }),
    });
  const { MAX_SAFE_INTEGER } = Number;
  for (
    const [input, output] of [
      [1e9, 1e9],
      [MAX_SAFE_INTEGER, MAX_SAFE_INTEGER],
      [1e300, 5],
      [200_000, 5],
    ]
  ) {
    upstream.answer(answering({ prompt_tokens: input!, completion_tokens: output! }));
    const res = await ask();
    assert.equal(res.status, 200, await res.text());
    const id = res.headers.get("x-request-id");
    const receipt = await (await gateway.get(`/v1/usage/${id}`)).json();
    assert.ok(Number(receipt.charge?.settled ?? receipt.settled) < 0.001, JSON.stringify(receipt));
    assert.match(JSON.stringify(receipt), /"estimated":true/);
  }
  // Within what may happen, the key owes at most what was reserved once more.
  upstream.answer(answering({ prompt_tokens: 90_000, completion_tokens: 5 }));
  assert.equal((await ask().then(async (res) => (await res.text(), res))).status, 200);
  assert.equal((await ask().then(async (res) => (await res.text(), res))).status, 200);
  const { ok, checks } = await (await gateway.admin("GET", "/ledger/verify")).json();
  assert.ok(ok, JSON.stringify(checks));
});

test("Retry-After of an upstream is told for an hour at most", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openGateway({ config: configuration(upstream.url) });
  await (await gateway.admin("POST", `/accounts/${gateway.account}/credits`, {
    kind: "cash",
    amount: "5.00",
    reference: "start",
  })).text();
  for (const said of ["999999999999", "9".repeat(400), "Fri, 31 Dec 9999 23:59:59 GMT"]) {
    upstream.answer({ status: 429, headers: { "retry-after": said }, body: { error: {} } });
    const { key } = await gateway.newKey();
    void key;
    const res = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "talk", messages: [{ role: "user", content: "hello" }] }),
    });
    assert.equal(res.status, 503, await res.text());
    const seconds = Number(res.headers.get("retry-after"));
    assert.ok(seconds >= 1 && seconds <= 3600, `${said}: ${seconds}`);
  }
});

test("400 for moments that no calendar or database has, wherever one is asked for", async () => {
  await using gateway = await openGateway();
  const odd = [
    "0000-01-01T00:00:00Z",
    "999999999999",
    "+010000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
    "2026-13-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-02-01T00:00:00",
    "",
  ];
  for (const text of odd) {
    const at = encodeURIComponent(text);
    for (const name of ["from", "to"]) {
      for (const path of ["/v1/usage", "/v1/statement", "/v1/usage/days"]) {
        const res = await gateway.get(`${path}?${name}=${at}`);
        assert.ok(
          res.status === 400 || res.status === 404,
          `${path}?${name}=${text}: ${res.status}`,
        );
        await res.body?.cancel();
      }
    }
    const account = `/accounts/${gateway.account}`;
    const credit = { kind: "gift", amount: "1.00", reference: "r", expires_at: text };
    const calls = [
      ["POST", `${account}/credits`, credit],
      ["PUT", `${account}/plan`, { plan: "free", expires_at: text }],
      ["POST", "/webhooks/redeliver", { since: text }],
    ] as const;
    for (const [method, path, body] of calls) {
      const res = await gateway.admin(method, path, body);
      assert.equal(res.status, 400, `${path} ${text}: ${await res.clone().text()}`);
      assert.equal((await errorOf(res)).type, "invalid_request_error");
    }
  }
});

test("an id of a year that no database has is unknown, wherever one is asked for", async () => {
  await using gateway = await openGateway();
  const digits = "7".padEnd(26, "z");
  const paths = [
    `/v1/requests?after=req_${digits}`,
    `/v1/requests?id=req_${digits}`,
    `/v1/requests/req_${digits}`,
    `/v1/usage?after=req_${digits}`,
    `/v1/usage/req_${digits}`,
    `/v1/tasks/task_${digits}`,
    `/v1/files/file_${digits}`,
    `/v1/responses/resp_${digits}`,
    `/v1/responses/resp_${digits}/input_items`,
  ];
  for (const path of paths) {
    const res = await gateway.get(path);
    assert.ok(res.status < 500, `${path}: ${await res.clone().text()}`);
    await res.body?.cancel();
  }
  const operators = [
    `/requests?after=req_${digits}`,
    `/requests/req_${digits}`,
    `/tasks?after=task_${digits}`,
    `/audit?after=aud_${digits}`,
  ];
  for (const path of operators) {
    const res = await gateway.admin("GET", path);
    assert.ok(res.status < 500, `${path}: ${await res.clone().text()}`);
    await res.body?.cancel();
  }
});

test("400 for signing in without a password, and for forms that cannot be read", async () => {
  await using gateway = await openGateway();
  const visitor = new Visitor(gateway.address);
  await visitor.register("ann@example.com");
  const stranger = new Visitor(gateway.address);
  for (const fields of [{ email: "ann@example.com" }, { email: "ann@example.com", password: "" }]) {
    const res = await stranger.post("/sign-in", fields as Record<string, string>);
    assert.equal(res.status, 400);
    assert.match(await res.text(), /Enter your email and password/);
  }
  for (
    const type of [
      "multipart/form-data",
      "multipart/form-data; boundary=",
      "multipart/form-data; boundary=x",
    ]
  ) {
    for (const path of ["/sign-in", "/register"]) {
      const res = await gateway.fetch(path, {
        method: "POST",
        headers: { origin: gateway.address, "content-type": type, accept: "text/html" },
        body: "email=ann",
      });
      assert.equal(res.status, 400, `${path} ${type}: ${await res.text()}`);
    }
    const upload = await gateway.fetch("/v1/files", {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": type },
      body: "email=ann",
    });
    assert.equal(upload.status, 400, `${type}: ${await upload.text()}`);
  }
});
