import assert from "node:assert/strict";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { Outbound } from "../src/platform/outbound/safe_fetch.ts";
import { revealSecret, rotateSecret } from "../src/domain/webhooks/secrets.ts";
import { openSecretBox } from "../src/platform/secrets/secret_box.ts";
import { until } from "./helpers/chat_gateway.ts";
import { type Delivery, deliveryRow, openDelivery } from "./helpers/delivery.ts";
import { startReceiver } from "./helpers/receiver.ts";

const ended = (delivery: Delivery, id: string, state: string) =>
  until(`${id} is ${state}`, async () => (await deliveryRow(delivery, id)).state === state);

Deno.test("an event arrives signed as the published library wants it, and no byte of it may change", async () => {
  await using receiver = startReceiver();
  await using delivery = await openDelivery();
  const { secret } = await delivery.endpoint({ url: `${receiver.url}/hook` });
  const output = [{ type: "image", url: "https://x.example/ü?a=1&b=2" }];
  const [id] = await delivery.finish({ data: { task_id: "task_1", status: "succeeded", output } });
  await ended(delivery, id!, "delivered");
  const [{ headers, body, event, path }] = receiver.received as [typeof receiver.received[0]];
  assert.equal(path, "/hook");
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["webhook-id"], event.id);
  assert.deepEqual(Object.keys(event), ["id", "type", "created", "data"]);
  assert.deepEqual(event.data, { task_id: "task_1", status: "succeeded", output });
  assert.deepEqual(new Webhook(secret).verify(body, headers), event);

  const refuses = (text: string, changed: Record<string, string>) =>
    assert.throws(() => new Webhook(secret).verify(text, changed), WebhookVerificationError);
  refuses(body.replace("task_1", "task_2"), headers);
  refuses(body + "\n", headers);
  refuses(body, { ...headers, "webhook-id": "evt_other" });
  const old = String(Number(headers["webhook-timestamp"]) - 600);
  refuses(body, { ...headers, "webhook-timestamp": old });
});

Deno.test("a callback is signed with the account's own secret, made when it is first needed", async () => {
  await using receiver = startReceiver();
  await using delivery = await openDelivery();
  const [id] = await delivery.finish({ callbackUrl: `${receiver.url}/callback` });
  await ended(delivery, id!, "delivered");
  const [one] = receiver.received;
  new Webhook(await delivery.secret()).verify(one!.body, one!.headers);
});

Deno.test("during a rotation both secrets verify; a leaked one can be dropped at once", async () => {
  await using receiver = startReceiver();
  await using delivery = await openDelivery();
  const { id: endpoint, secret: first } = await delivery.endpoint({ url: receiver.url });
  const owner = { account: delivery.account, endpoint };
  const { sql } = delivery.database;
  await Promise.all([
    rotateSecret(sql, openSecretBox([]), owner),
    rotateSecret(sql, openSecretBox([]), owner),
  ]);
  const { secret: second } = await revealSecret(sql, openSecretBox([]), owner);
  assert.notEqual(second, first);
  await delivery.finish();
  await until("the event", () => receiver.received.length === 1);
  const [{ headers, body }] = receiver.received as [typeof receiver.received[0]];
  const count = headers["webhook-signature"]!.split(" ").length;
  assert.ok(count === 2 || count === 3, "two rotations at once may be one or two");
  for (const secret of [first, second]) new Webhook(secret).verify(body, headers);

  const { secret: third, previous } = await rotateSecret(sql, openSecretBox([]), owner, 0);
  assert.ok(previous.every(({ secret }) => secret !== second));
  await sql`update webhook_secret set expires_at = now() where secret = ${first}`;
  await delivery.finish();
  await until("the next event", () => receiver.received.length === 2);
  const next = receiver.received[1]!;
  new Webhook(third).verify(next.body, next.headers);
  for (const secret of [first, second]) {
    assert.throws(() => new Webhook(secret).verify(next.body, next.headers));
  }
});

Deno.test("what fails is tried again with the same id and the same bytes until it is taken", async () => {
  await using receiver = startReceiver();
  await using delivery = await openDelivery();
  const answers = [
    () => new Response("no", { status: 500 }),
    () => new Response(null, { status: 302, headers: { location: "https://elsewhere.example/" } }),
    () => new Response("x".repeat(10_000), { status: 404 }),
    () => new Response("thanks", { status: 201 }),
  ];
  receiver.answer = (nth) => answers[nth]!();
  await delivery.endpoint({ url: receiver.url });
  const [id] = await delivery.finish();
  await ended(delivery, id!, "delivered");
  assert.equal(receiver.received.length, 4, "redirects are not followed");
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size, 1);
  const attempts = await delivery.database.sql`
    select number, status, error, response, latency_ms from webhook_attempt
     where delivery_id = ${id!} order by number`;
  assert.deepEqual(attempts.map(({ status }) => status), [500, 302, 404, 201]);
  assert.deepEqual(attempts.map(({ number }) => number), [1, 2, 3, 4]);
  assert.equal(attempts[0]!.response, "no");
  assert.equal(attempts[2]!.response.length, 4096);
  assert.deepEqual(delivery.outcomes, ["retry", "retry", "retry", "delivered"]);
});

Deno.test("retries end with the schedule", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response(null, { status: 503 });
  await using delivery = await openDelivery({ retrySeconds: [0, 0, 0] });
  await delivery.endpoint({ url: receiver.url });
  const [id] = await delivery.finish();
  await ended(delivery, id!, "failed");
  const row = await deliveryRow(delivery, id!);
  assert.deepEqual([row.reason, row.attempts, row.last_status], ["retries_spent", 3, 503]);
});

Deno.test("410 ends it and disables the endpoint; what else waits for it is given up", async () => {
  await using receiver = startReceiver();
  await using delivery = await openDelivery({ retrySeconds: [0, 600, 600] });
  const { id: endpoint } = await delivery.endpoint({ url: receiver.url });
  receiver.answer = (nth) => new Response(null, { status: nth === 0 ? 500 : 410 });
  const [first] = await delivery.finish();
  await until("the first failed", async () => (await deliveryRow(delivery, first!)).attempts === 1);
  const [second] = await delivery.finish();
  await ended(delivery, second!, "failed");
  await ended(delivery, first!, "failed");
  assert.equal((await deliveryRow(delivery, second!)).reason, "gone");
  assert.equal((await deliveryRow(delivery, first!)).reason, "endpoint_disabled");
  const [row] = await delivery.database.sql`select * from webhook_endpoint where id = ${endpoint}`;
  assert.equal(row!.disabled_reason, "gone");
  assert.deepEqual(await delivery.finish(), [], "nothing more is written for it");
  assert.ok(delivery.logged.some((line) => line.includes("webhook endpoint disabled")));
});

Deno.test("an endpoint with days of nothing but failure is disabled; one success begins anew", async () => {
  await using receiver = startReceiver();
  await using delivery = await openDelivery({ retrySeconds: [0], disableAfterDays: 5 });
  const { id: endpoint } = await delivery.endpoint({ url: receiver.url });
  const { sql } = delivery.database;
  const state = async () =>
    (await sql`select failing_since is not null as failing, disabled_reason
                 from webhook_endpoint where id = ${endpoint}`)[0]!;
  const send = async (status: number) => {
    receiver.answer = () => new Response(null, { status });
    const [id] = await delivery.finish();
    await ended(delivery, id!, status === 200 ? "delivered" : "failed");
    return await state();
  };
  const age = (interval: string) =>
    sql`update webhook_endpoint set failing_since = failing_since - ${interval}::text::interval`;
  assert.deepEqual(await send(500), { failing: true, disabled_reason: null });
  await age("4 days 23 hours");
  assert.deepEqual(await send(500), { failing: true, disabled_reason: null });
  assert.deepEqual(await send(200), { failing: false, disabled_reason: null });
  assert.deepEqual(await send(500), { failing: true, disabled_reason: null });
  await age("5 days");
  assert.deepEqual(await send(500), { failing: true, disabled_reason: "failing" });
});

Deno.test("Retry-After is honoured, within reason, and waits are spread", async () => {
  await using receiver = startReceiver();
  const waits = ["7200", new Date(Date.now() + 7_200_000).toUTCString(), "999999999", "soon", "1"];
  receiver.answer = (nth) =>
    new Response(null, { status: 429, headers: { "retry-after": waits[nth]! } });
  await using delivery = await openDelivery({ retrySeconds: [0, 100] });
  await delivery.endpoint({ url: receiver.url });
  const seen: number[] = [];
  for (let nth = 0; nth < waits.length; nth++) {
    const [id] = await delivery.finish();
    await until("the attempt", async () => (await deliveryRow(delivery, id!)).attempts === 1);
    seen.push((await deliveryRow(delivery, id!)).wait!);
  }
  const near = (wait: number, seconds: number) => Math.abs(wait - seconds) < 60;
  assert.ok(near(seen[0]!, 7200) && near(seen[1]!, 7200), String(seen));
  assert.ok(near(seen[2]!, 86_400), String(seen));
  for (const wait of seen.slice(3)) assert.ok(wait > 20 && wait <= 120, String(seen));
});

Deno.test("an answer that never comes is a failure; a head that came decides, however the body drips", async () => {
  await using receiver = startReceiver();
  const releases: (() => void)[] = [];
  receiver.answer = (nth) => {
    if (nth === 0) return new Promise((resolve) => releases.push(() => resolve(new Response())));
    const { readable, writable } = new TransformStream<Uint8Array>();
    const writer = writable.getWriter();
    void writer.write(new TextEncoder().encode("drop")).catch(() => undefined);
    releases.push(() => void writer.close().catch(() => undefined));
    return new Response(readable, { status: 200 });
  };
  await using delivery = await openDelivery({ timeoutSeconds: 1 });
  await delivery.endpoint({ url: receiver.url });
  const [id] = await delivery.finish();
  await ended(delivery, id!, "delivered");
  const attempts = await delivery.database.sql`
    select status, error, response from webhook_attempt where delivery_id = ${id!} order by number`;
  assert.equal(attempts[0]!.status, null);
  assert.match(attempts[0]!.error, /in time/);
  assert.deepEqual({ ...attempts[1] }, { status: 200, error: null, response: "drop" });
  for (const release of releases) release();
});

Deno.test("an address that leads into a private network is not called, whatever was said before", async () => {
  await using receiver = startReceiver();
  await using delivery = await openDelivery({ allowPrivate: false, retrySeconds: [0] });
  const port = new URL(receiver.url).port;
  const urls = [receiver.url, `http://localhost:${port}/`, "https://localhost/", "https://[::1]/"];
  for (const url of urls) {
    const [id] = await delivery.finish({ callbackUrl: url });
    await ended(delivery, id!, "failed");
    assert.ok((await deliveryRow(delivery, id!)).last_error, url);
  }
  assert.equal(receiver.received.length, 0);
});

Deno.test("a name that leads to a public address first and to a private one later is caught at the connection", async () => {
  let looks = 0;
  const answers = [["203.0.113.7", "127.0.0.1"], ["10.0.0.1"], ["::ffff:127.0.0.1"], ["fd00::1"]];
  using outbound = new Outbound({ resolve: () => Promise.resolve(answers[looks++]!) });
  await using delivery = await openDelivery({
    retrySeconds: [0],
    deps: { post: (request) => outbound.fetch(request, { allowPrivate: false }) },
  });
  for (let n = 0; n < answers.length; n++) {
    const [id] = await delivery.finish({ callbackUrl: "https://hooks.example/" });
    await ended(delivery, id!, "failed");
    assert.match((await deliveryRow(delivery, id!)).last_error!, /private network/);
  }
  assert.equal(looks, answers.length, "looked up again at every attempt");
});

Deno.test("a stop hands back what waits and what hangs, without counting it", async () => {
  await using receiver = startReceiver();
  const releases: (() => void)[] = [];
  receiver.answer = () => new Promise((resolve) => releases.push(() => resolve(new Response())));
  const delivery = await openDelivery({ timeoutSeconds: 60 });
  await using _ = delivery;
  await delivery.endpoint({ url: receiver.url });
  const ids: string[] = [];
  for (let n = 0; n < 20; n++) ids.push(...await delivery.finish());
  await until("some are out", () => receiver.received.length === 2);
  await delivery.sender[Symbol.asyncDispose]();
  for (const release of releases) release();
  const { sql } = delivery.database;
  const rows =
    await sql`select attempts, lease_until, wake_at <= now() as due from webhook_delivery`;
  assert.equal(rows.length, 20);
  for (const row of rows) {
    assert.deepEqual({ ...row }, { attempts: 0, lease_until: null, due: true });
  }
});

Deno.test("with the operator's key no secret stands in the database, and events are signed all the same", async () => {
  await using receiver = startReceiver();
  await using delivery = await openDelivery({ secretsKeys: ["0123456789abcdef0123456789abcdef"] });
  const { secret } = await delivery.endpoint({ url: receiver.url });
  await delivery.finish();
  await delivery.finish({ callbackUrl: `${receiver.url}/own` });
  await until("two events", () => receiver.received.length === 2);
  for (const { path, body, headers } of receiver.received) {
    new Webhook(path === "/own" ? await delivery.secret() : secret).verify(body, headers);
  }
  const rows = await delivery.database.sql<{ secret: string }[]>`select secret from webhook_secret`;
  assert.equal(rows.length, 2);
  for (const row of rows) assert.match(row.secret, /^sealed_v1:/);
});

Deno.test("a secret that cannot be unsealed delays its own events, and no others", async () => {
  await using receiver = startReceiver();
  await using delivery = await openDelivery();
  const { id: endpoint } = await delivery.endpoint({ url: receiver.url });
  const { sql } = delivery.database;
  await sql`update webhook_secret set secret = 'sealed_v1:AAAA' where endpoint_id = ${endpoint}`;
  const [stuck] = await delivery.finish();
  const [sent] = await delivery.finish({ callbackUrl: `${receiver.url}/own` });
  await ended(delivery, sent!, "delivered");
  await until("it was handed back", async () => {
    const { state, attempts, wait } = await deliveryRow(delivery, stuck!);
    return state === "pending" && attempts === 0 && wait! > 51 && wait! < 61;
  });
  assert.ok(delivery.logged.some((line) => line.includes("webhook event not sent")));
});

Deno.test("settled() waits for the attempts under way, for a limited time", async () => {
  await using receiver = startReceiver();
  const releases: (() => void)[] = [];
  receiver.answer = () => new Promise((resolve) => releases.push(() => resolve(new Response())));
  await using delivery = await openDelivery({ timeoutSeconds: 60 });
  const [id] = await delivery.finish({ callbackUrl: receiver.url });
  await until("it is out", () => receiver.received.length === 1);
  await delivery.sender.settled(50);
  assert.equal((await deliveryRow(delivery, id!)).state, "pending", "patience has an end");
  const settled = delivery.sender.settled(30_000);
  for (const release of releases) release();
  await settled;
  assert.equal((await deliveryRow(delivery, id!)).state, "delivered");
});
