import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { until } from "../helpers/chat_gateway.ts";
import { errorOf, openGateway } from "../helpers/open_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";
import {
  addTo,
  call,
  callWith,
  CONFIG,
  finish,
  type Json,
  logged,
  open,
  SETTINGS,
} from "../helpers/webhook_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

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
    assert.deepEqual(second.body.event_types.length, 8);
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
      const { status, res } = await callWith(stranger, gateway, { method, path });
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
    await using gateway = await openGateway({ config: CONFIG + SETTINGS });
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
