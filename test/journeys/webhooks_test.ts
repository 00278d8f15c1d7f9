import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Webhook } from "standardwebhooks";
import { enlistEvent } from "../../src/webhooks/enlist.ts";
import { until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { type Receiver, startReceiver } from "../helpers/receiver.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const DECLARATION = await Deno.readTextFile(
  new URL("../helpers/declaration.yaml", import.meta.url),
);
const SETTINGS = "\nwebhooks: { retry_seconds: [0, 0], timeout_seconds: 5 }\n";
const OPEN = `${DECLARATION}${SETTINGS}outbound: { allow_private: true }\n`;

// deno-lint-ignore no-explicit-any
type Json = any;

async function call(
  gateway: TestGateway,
  method: string,
  path: string,
  body?: unknown,
  key = gateway.key,
): Promise<{ status: number; body: Json; res: Response }> {
  const res = await gateway.fetch(`/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const copy = res.clone();
  return { status: res.status, body: await copy.json(), res };
}

async function finish(gateway: TestGateway, callbackUrl: string | null = null): Promise<string> {
  const taskId = `task_${crypto.randomUUID().replaceAll("-", "")}`;
  await gateway.gateway.database.sql.begin((tx) =>
    enlistEvent(tx, {
      account: gateway.account,
      taskId,
      type: "task.succeeded",
      callbackUrl,
      data: { task_id: taskId, status: "succeeded", output: [] },
    })
  );
  return taskId;
}

/** Waits until the log has a delivery of this task (or of anything) in a state, and answers it. */
async function logged(gateway: TestGateway, status: string, task?: string): Promise<Json> {
  let found: Json;
  const query = task === undefined ? "" : `&task=${task}`;
  await until(`a delivery is ${status}`, async () => {
    const { body } = await call(gateway, "GET", `/webhook_deliveries?status=${status}${query}`);
    found = body.data[0];
    return found !== undefined;
  }, 30);
  return found;
}

async function statusOf(url: string): Promise<number> {
  const res = await fetch(url);
  await res.body?.cancel();
  return res.status;
}

const open = () => openGateway({ declaration: OPEN });
const addTo = async (gateway: TestGateway, receiver: Receiver, more: Json = {}) =>
  (await call(gateway, "POST", "/webhook_endpoints", { url: receiver.url, ...more })).body;

Deno.test(
  "an account adds, sees, changes and removes its endpoints, and no other account's",
  STRICT,
  async () => {
    await using gateway = await open();
    const created = await call(gateway, "POST", "/webhook_endpoints", {
      url: "https://hooks.example/a",
      description: "mine",
      event_types: ["task.failed"],
    });
    assert.equal(created.status, 201);
    assert.equal(created.res.headers.get("cache-control"), "no-store");
    const { secret, ...endpoint } = created.body;
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(endpoint, {
      id: endpoint.id,
      object: "webhook_endpoint",
      url: "https://hooks.example/a",
      description: "mine",
      event_types: ["task.failed"],
      status: "enabled",
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      created: endpoint.created,
    });
    const at = `/webhook_endpoints/${endpoint.id}`;
    assert.deepEqual((await call(gateway, "GET", at)).body, endpoint, "the secret is not in it");
    assert.equal((await call(gateway, "GET", `${at}/secret`)).body.secret, secret);

    const second = await call(gateway, "POST", "/webhook_endpoints", { url: "https://b.example/" });
    assert.deepEqual(second.body.event_types.length, 4);
    const page = await call(gateway, "GET", "/webhook_endpoints?limit=1");
    assert.deepEqual([page.body.data[0].id, page.body.has_more], [second.body.id, true]);
    const rest = await call(gateway, "GET", `/webhook_endpoints?after=${page.body.last_id}`);
    assert.deepEqual([rest.body.data[0].id, rest.body.has_more], [endpoint.id, false]);

    const changed = await call(gateway, "POST", at, { url: "https://c.example/", description: "" });
    assert.deepEqual(changed.body, { ...endpoint, url: "https://c.example/", description: "" });

    const off = await call(gateway, "POST", `${at}/disable`);
    assert.deepEqual([off.body.status, off.body.disabled_reason], ["disabled", "owner"]);
    assert.equal((await call(gateway, "POST", `${at}/enable`)).body.status, "enabled");

    const { key: stranger } = await gateway.newKey();
    for (
      const [method, path] of [
        ["GET", at],
        ["POST", `${at}/disable`],
        ["POST", `${at}/enable`],
        ["POST", `${at}/test`],
        ["GET", `${at}/secret`],
        ["POST", `${at}/rotate_secret`],
        ["GET", `${at}/deliveries`],
        ["DELETE", at],
      ] as const
    ) {
      const { status, res } = await call(gateway, method, path, undefined, stranger);
      assert.equal(status, 404, path);
      assert.equal((await errorOf(res)).code, "not_found");
    }
    const gone = await call(gateway, "DELETE", at);
    assert.deepEqual(gone.body, { id: endpoint.id, object: "webhook_endpoint", deleted: true });
    assert.equal((await call(gateway, "GET", at)).status, 404);
    assert.equal((await call(gateway, "DELETE", at)).status, 404);
  },
);

Deno.test(
  "400 for an address that is not public https, and for what is not known",
  STRICT,
  async () => {
    await using gateway = await openGateway({ declaration: DECLARATION + SETTINGS });
    for (
      const url of [
        "http://hooks.example/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://2130706433/",
        "https://user:pass@hooks.example/",
        "https://hooks.example:8443/",
        "https://localhost/",
        "https://metadata.google.internal/",
        "ftp://hooks.example/",
        "hooks.example",
        `https://hooks.example/${"x".repeat(2030)}`,
      ]
    ) {
      const { status, body } = await call(gateway, "POST", "/webhook_endpoints", { url });
      assert.equal(status, 400, url);
      assert.deepEqual([body.error.code, body.error.param], ["unsafe_url", "url"], url);
    }
    for (
      const [body, code, param] of [
        [{}, "missing_field", "url"],
        [{ url: 5 }, "invalid_value", "url"],
        [{ url: "https://a.example/", colour: "red" }, "unknown_field", "colour"],
        [{ url: "https://a.example/", event_types: [] }, "invalid_value", "event_types"],
        [
          { url: "https://a.example/", event_types: ["task.sneezed"] },
          "invalid_value",
          "event_types.0",
        ],
      ] as const
    ) {
      const answer = await call(gateway, "POST", "/webhook_endpoints", body);
      assert.equal(answer.status, 400);
      assert.deepEqual([answer.body.error.code, answer.body.error.param], [code, param]);
    }
    const { body: made } = await call(gateway, "POST", "/webhook_endpoints", {
      url: "https://a.example/",
    });
    const moved = await call(gateway, "POST", `/webhook_endpoints/${made.id}`, {
      url: "https://10.0.0.1/",
    });
    assert.equal(moved.body.error.code, "unsafe_url");
    assert.equal((await call(gateway, "GET", "/webhook_deliveries?status=lost")).status, 400);
    for (let n = 1; n < 16; n++) {
      await call(gateway, "POST", "/webhook_endpoints", { url: "https://a.example/" });
    }
    const tooMany = await call(gateway, "POST", "/webhook_endpoints", {
      url: "https://a.example/",
    });
    assert.equal(tooMany.status, 400);
  },
);

Deno.test(
  "an event goes out by itself, is logged with its attempts, and can be sent again",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using gateway = await open();
    const { id, secret } = await addTo(gateway, receiver);
    receiver.answer = (nth) => new Response(`answer ${nth}`, { status: nth === 0 ? 500 : 200 });
    const task = await finish(gateway);
    const delivery = await logged(gateway, "delivered", task);
    assert.deepEqual([delivery.endpoint, delivery.attempt_count, delivery.last_status], [
      id,
      2,
      200,
    ]);
    assert.equal(delivery.event.task_id, task);
    assert.equal("account" in delivery, false);
    const { body: one } = await call(gateway, "GET", `/webhook_deliveries/${delivery.id}`);
    assert.deepEqual(one.payload, receiver.received[0]!.event);
    assert.deepEqual(
      one.attempts.map(({ number, status, response }: Json) => [number, status, response]),
      [[1, 500, "answer 0"], [2, 200, "answer 1"]],
    );
    for (const { body, headers } of receiver.received) new Webhook(secret).verify(body, headers);

    const again = await call(gateway, "POST", `/webhook_deliveries/${delivery.id}/redeliver`);
    assert.deepEqual([again.status, again.body.status], [202, "pending"]);
    await until("it came again", () => receiver.received.length === 3);
    assert.equal(receiver.received[2]!.headers["webhook-id"], one.event.id);
    const { body: list } = await call(gateway, "GET", `/webhook_endpoints/${id}/deliveries`);
    assert.deepEqual(list.data.map((entry: Json) => entry.id), [delivery.id]);

    const { key: stranger } = await gateway.newKey();
    for (const [method, path] of [["GET", ""], ["POST", "/redeliver"]] as const) {
      const path_ = `/webhook_deliveries/${delivery.id}${path}`;
      assert.equal((await call(gateway, method, path_, undefined, stranger)).status, 404);
    }
    const others = await call(gateway, "GET", "/webhook_deliveries", undefined, stranger);
    assert.deepEqual(others.body.data, []);
  },
);

Deno.test(
  "a callback is signed with the account's default secret, which can be rotated",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using gateway = await open();
    await addTo(gateway, receiver);
    const { body: first } = await call(gateway, "GET", "/webhook_endpoints/default/secret");
    const rotated = await call(gateway, "POST", "/webhook_endpoints/default/rotate_secret");
    assert.equal(rotated.status, 200);
    assert.deepEqual(rotated.body.previous.map(({ secret }: Json) => secret), [first.secret]);
    const left = Date.parse(rotated.body.previous[0].expires_at) - Date.now();
    assert.ok(Math.abs(left - 86_400_000) < 600_000, String(left));

    const task = await finish(gateway, `${receiver.url}/callback`);
    const delivery = await logged(gateway, "delivered", task);
    assert.equal(delivery.endpoint, null);
    assert.equal(
      receiver.received.length,
      1,
      "the endpoint gets nothing: the request named another",
    );
    const [{ path, body, headers }] = receiver.received as [Receiver["received"][0]];
    assert.equal(path, "/callback");
    for (const secret of [first.secret, rotated.body.secret]) {
      new Webhook(secret).verify(
        body,
        headers,
      );
    }
    const dropped = await call(gateway, "POST", "/webhook_endpoints/default/rotate_secret", {
      overlap_seconds: 0,
    });
    assert.equal(dropped.status, 200);
    assert.deepEqual(dropped.body.previous.map(({ secret }: Json) => secret), [first.secret]);
    const refused = await call(gateway, "POST", "/webhook_endpoints/default/rotate_secret", {
      overlap_seconds: 90_000,
    });
    assert.equal(refused.body.error.param, "overlap_seconds");
  },
);

Deno.test(
  "a test event says that it is one, is sent once, and reaches a disabled endpoint too",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using gateway = await open();
    const { id, secret } = await addTo(gateway, receiver);
    await call(gateway, "POST", `/webhook_endpoints/${id}/disable`);
    receiver.answer = () => new Response(null, { status: 500 });
    const sent = await call(gateway, "POST", `/webhook_endpoints/${id}/test`);
    assert.deepEqual([sent.status, sent.body.event.type], [202, "webhook.test"]);
    const failed = await logged(gateway, "failed");
    assert.deepEqual([failed.id, failed.attempt_count], [sent.body.id, 1]);
    const [{ body, headers, event }] = receiver.received as [Receiver["received"][0]];
    new Webhook(secret).verify(body, headers);
    assert.equal(event.type, "webhook.test");
    const { body: endpoint } = await call(gateway, "GET", `/webhook_endpoints/${id}`);
    assert.equal(endpoint.failing_since, null, "a test says nothing about how an endpoint fares");
  },
);

Deno.test(
  "what a disabled endpoint missed can be sent when it is enabled again",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using gateway = await open();
    const since = new Date(Date.now() - 60_000).toISOString();
    const { id } = await addTo(gateway, receiver);
    receiver.answer = () => new Response(null, { status: 410 });
    const task = await finish(gateway);
    const failed = await logged(gateway, "failed", task);
    assert.equal(failed.reason, "gone");
    const { body: endpoint } = await call(gateway, "GET", `/webhook_endpoints/${id}`);
    assert.deepEqual([endpoint.status, endpoint.disabled_reason], ["disabled", "gone"]);
    for (
      const path of [
        `/webhook_deliveries/${failed.id}/redeliver`,
        `/webhook_endpoints/${id}/redeliver`,
      ]
    ) {
      const refused = await call(gateway, "POST", path, { since });
      assert.equal(refused.status, 400, path);
      assert.match(refused.body.error.message, /enable it first/);
    }
    receiver.answer = () => new Response();
    await call(gateway, "POST", `/webhook_endpoints/${id}/enable`);
    const redelivered = await call(gateway, "POST", `/webhook_endpoints/${id}/redeliver`, {
      since,
    });
    assert.deepEqual([redelivered.status, redelivered.body.count], [202, 1]);
    await logged(gateway, "delivered", task);
    assert.equal(receiver.received.length, 2);
    const nothing = await call(gateway, "POST", `/webhook_endpoints/${id}/redeliver`, { since });
    assert.equal(nothing.body.count, 0);
  },
);

Deno.test(
  "the operator sees deliveries of every account and sends them again",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using gateway = await open();
    await addTo(gateway, receiver);
    receiver.answer = (nth) => new Response(null, { status: nth < 2 ? 503 : 200 });
    const task = await finish(gateway);
    const failed = await logged(gateway, "failed", task);
    const admin = async (method: string, path: string, body?: unknown) => {
      const res = await gateway.admin(method, path, body);
      return { status: res.status, body: await res.json() };
    };
    const list = await admin(
      "GET",
      `/webhooks/deliveries?status=failed&account=${gateway.account}`,
    );
    assert.deepEqual(
      list.body.data.map(({ id, account }: Json) => [id, account]),
      [[failed.id, gateway.account]],
    );
    assert.deepEqual((await admin("GET", "/webhooks/deliveries?account=acc_0")).body.data, []);
    const one = await admin("GET", `/webhooks/deliveries/${failed.id}`);
    assert.deepEqual(one.body.attempts.map(({ status }: Json) => status), [503, 503]);
    const since = new Date(Date.now() - 60_000).toISOString();
    const all = await admin("POST", "/webhooks/redeliver", { since });
    assert.deepEqual([all.status, all.body.count], [202, 1]);
    await logged(gateway, "delivered", task);
    const again = await admin("POST", `/webhooks/deliveries/${failed.id}/redeliver`);
    assert.equal(again.status, 202);
    await until("it came again", () => receiver.received.length === 4);
    assert.equal((await admin("POST", "/webhooks/deliveries/dlv_0/redeliver")).status, 404);
    assert.equal((await admin("POST", "/webhooks/redeliver", { since: "yesterday" })).status, 400);

    const metrics = await (await gateway.fetch("/metrics", {
      headers: { authorization: "Bearer test-admin-token-0123456789" },
    })).text();
    assert.match(metrics, /tollgate_webhook_attempts_total\{outcome="delivered"\} [12]/);
    assert.match(metrics, /tollgate_webhook_attempts_total\{outcome="retry"\} 1/);
    assert.match(metrics, /tollgate_webhook_deliveries_pending \d/);
  },
);

Deno.test("a changed address takes what still waits along", STRICT, async () => {
  await using receiver = startReceiver();
  await using gateway = await openGateway({
    declaration: OPEN.replace("[0, 0]", "[0, 600, 600]"),
  });
  const { id } = await addTo(gateway, receiver, { url: `${receiver.url}/old` });
  receiver.answer = (_, { path }) => new Response(null, { status: path === "/new" ? 200 : 500 });
  const task = await finish(gateway);
  let waiting: Json;
  await until("the first attempt", async () => {
    waiting = await logged(gateway, "pending", task);
    return waiting.attempt_count === 1;
  }, 30);
  await call(gateway, "POST", `/webhook_endpoints/${id}`, { url: `${receiver.url}/new` });
  await call(gateway, "POST", `/webhook_deliveries/${waiting.id}/redeliver`);
  const done = await logged(gateway, "delivered", task);
  assert.deepEqual([done.url, done.attempt_count], [`${receiver.url}/new`, 2]);
});

Deno.test(
  "every way a task can end is one event of its own type, as its schema says, to every endpoint",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using other = startReceiver();
    await using gateway = await openMediaGateway();
    const { secret } = await addTo(gateway, receiver);
    await addTo(gateway, other, { event_types: ["task.expired"] });
    const submit = async (model: string, orders: string) =>
      (await gateway.submit("/v1/videos/generations", {
        model,
        prompt: `[[simulate: ${orders}]] a tide`,
        duration: 1,
      })).id;
    const tasks = {
      "task.succeeded": await submit("clip", "seconds=0"),
      "task.failed": await submit("clip", "fail_at=0"),
      "task.cancelled": await submit("clip", "seconds=60"),
      "task.expired": await submit("short-clip", "seconds=60"),
    };
    await (await gateway.post(`/v1/tasks/${tasks["task.cancelled"]}/cancel`, {})).body?.cancel();
    for (const id of Object.values(tasks)) await gateway.ended(id, 60);
    await until("four events", () => receiver.received.length >= 4, 60);
    await until("one event", () => other.received.length >= 1, 60);

    const ajv = new Ajv2020.default();
    addFormats.default(ajv);
    const schema = new URL("../../schemas/webhook_event.schema.json", import.meta.url);
    const isEvent = ajv.compile(JSON.parse(await Deno.readTextFile(schema)));
    for (const { body, headers, event } of receiver.received) {
      new Webhook(secret).verify(body, headers);
      assert.ok(isEvent(event), JSON.stringify([event, isEvent.errors]));
      assert.equal(tasks[event.type as keyof typeof tasks], event.data.task_id);
      assert.equal(`task.${event.data.status}`, event.type);
      const output = event.data.output as Json[];
      assert.equal(output.length, event.type === "task.succeeded" ? 1 : 0);
      for (const { url } of output) assert.equal(await statusOf(url), 200);
    }
    assert.equal(receiver.received.length, 4);
    assert.deepEqual(other.received.map(({ event }) => event.type), ["task.expired"]);
  },
);

Deno.test(
  "an event that is sent again days later carries links that work, and is the same event",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using gateway = await openMediaGateway();
    await addTo(gateway, receiver);
    const { id } = await gateway.submit("/v1/images/generations", {
      model: "picture",
      prompt: "x",
    });
    const delivery = await logged(gateway, "delivered", id);
    const { sql } = gateway.gateway.database;
    const stale = receiver.received[0]!.event as Json;
    stale.data.output[0].url += "-ended";
    stale.data.output[0].expires_at = "2026-01-01T00:00:00.000Z";
    await sql`
      update webhook_event
         set created_at = created_at - interval '2 days', data = ${JSON.stringify(stale.data)}`;
    await call(gateway, "POST", `/webhook_deliveries/${delivery.id}/redeliver`);
    await until("it came again", () => receiver.received.length === 2, 30);
    const [first, second] = receiver.received.map(({ event }) => event) as [Json, Json];
    assert.equal(first.id, second.id);
    const [before, after] = [first.data.output[0], second.data.output[0]];
    assert.ok(Date.parse(after.expires_at) > Date.parse(before.expires_at));
    assert.equal(await statusOf(after.url), 200);
    assert.deepEqual({ ...after, url: 0, expires_at: 0 }, { ...before, url: 0, expires_at: 0 });
  },
);

Deno.test(
  "answers about webhooks have exactly the shapes that /openapi.json promises",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using gateway = await open();
    const document = await (await gateway.fetch("/openapi.json")).json();
    const ajv = new Ajv2020.default({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema({ $id: "doc", ...document });
    const follows = (answer: Json, name: string) => {
      const check = ajv.getSchema(`doc#/components/schemas/${name}`)!;
      assert.ok(check(answer), `${name}: ${JSON.stringify([check.errors, answer])}`);
      const known = Object.keys(document.components.schemas[name].properties);
      assert.deepEqual(Object.keys(answer).filter((key) => !known.includes(key)), [], name);
    };
    const ask = async (name: string, method: string, path: string, body?: unknown) => {
      const answer = (await call(gateway, method, path, body)).body;
      follows(answer, name);
      return answer;
    };
    const { id } = await ask("WebhookEndpoint", "POST", "/webhook_endpoints", {
      url: receiver.url,
    });
    const at = `/webhook_endpoints/${id}`;
    await ask("WebhookEndpoint", "GET", at);
    await ask("WebhookEndpointList", "GET", "/webhook_endpoints");
    await ask("WebhookSecret", "POST", `${at}/rotate_secret`);
    await ask("WebhookSecret", "GET", "/webhook_endpoints/default/secret");
    await ask("WebhookDelivery", "POST", `${at}/test`);
    const { id: delivery } = await logged(gateway, "delivered");
    follows((await call(gateway, "GET", `${at}/deliveries`)).body, "WebhookDeliveryList");
    const one = await ask("WebhookDelivery", "GET", `/webhook_deliveries/${delivery}`);
    follows(one.payload, "WebhookEvent");
    await ask("WebhookDelivery", "POST", `/webhook_deliveries/${delivery}/redeliver`);
    const since = new Date().toISOString();
    await ask("WebhookRedeliveryCount", "POST", `${at}/redeliver`, { since });
    const list = await (await gateway.admin("GET", "/webhooks/deliveries")).json();
    follows(list, "WebhookDeliveryList");
    follows(list.data[0], "WebhookDelivery");
    follows(
      await (await gateway.admin("POST", "/webhooks/redeliver", { since })).json(),
      "WebhookRedeliveryCount",
    );
    await ask("WebhookEndpointDeleted", "DELETE", at);
  },
);
