import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Webhook } from "standardwebhooks";
import { until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { type Receiver, startReceiver } from "../helpers/receiver.ts";
import {
  addTo,
  call,
  callWith,
  finish,
  type Json,
  logged,
  OPEN,
  open,
  statusOf,
} from "../helpers/webhook_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

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
    for (const [method, action] of [["GET", ""], ["POST", "/redeliver"]] as const) {
      const path = `/webhook_deliveries/${delivery.id}${action}`;
      assert.equal((await callWith(stranger, gateway, { method, path })).status, 404);
    }
    const others = await callWith(stranger, gateway, {
      method: "GET",
      path: "/webhook_deliveries",
    });
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

Deno.test("a changed address takes what still waits along", STRICT, async () => {
  await using receiver = startReceiver();
  await using gateway = await openGateway({
    config: OPEN.replace("[0, 0]", "[0, 600, 600]"),
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
      "task.succeeded": await submit("video-model", "seconds=0"),
      "task.failed": await submit("video-model", "fail_at=0"),
      "task.cancelled": await submit("video-model", "seconds=60"),
      "task.expired": await submit("short-video", "seconds=60"),
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
      model: "image-model",
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
