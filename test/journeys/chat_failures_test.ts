import assert from "node:assert/strict";
import { openSimulator } from "../../providers/simulator/simulator.ts";
import { eventsOf, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { ADMIN_TOKEN, errorOf } from "../helpers/open_gateway.ts";

Deno.test("a failing upstream is replaced before the first byte, and the client sees no failure", async () => {
  await using gateway = await openChatGateway();
  for (let i = 0; i < 8; i++) {
    const res = await gateway.chat("backed", `Hello ${i}`, i % 2 === 0 ? { stream: true } : {});
    assert.equal(res.status, 200);
    await res.text();
  }
  const { data } = await (await gateway.admin("GET", "/providers")).json();
  const sick = data.find(({ id }: { id: string }) => id === "sick").upstreams[0];
  assert.equal(sick.state, "open", "it opens after five failures");
});

Deno.test("503 when every upstream fails: released, retried elsewhere never, and told when to come back", async () => {
  await using gateway = await openChatGateway();
  for (let i = 0; i < 5; i++) {
    const res = await gateway.chat("sick", "Hello");
    assert.equal(res.status, 503);
    assert.ok(Number(res.headers.get("retry-after")) >= 1);
    assert.equal((await errorOf(res)).code, "upstream_failed");
    assert.equal((await gateway.receipt(res)).status, "released");
  }
  const rested = await gateway.chat("sick", "Hello");
  assert.equal(rested.status, 503);
  const error = await errorOf(rested);
  assert.equal(error.type, "model_unavailable");
  assert.equal(error.param, "model");
  assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
  await gateway.verify();
});

Deno.test("misbehaviour before the first byte is a 503 and costs nothing", async () => {
  for (
    const [orders, code, stream] of [
      ["refuse", "upstream_failed", false],
      ["html", "upstream_failed", false],
      ["status=429", "upstream_failed", false],
      ["hang", "upstream_timeout", false],
      ["hang", "upstream_timeout", true],
      ["content_type=text/plain", "upstream_failed", true],
      ["garbage=0", "upstream_failed", true],
      ["cut=0", "upstream_failed", true],
      ["error=0", "upstream_failed", true],
    ] as const
  ) {
    const fresh = await openChatGateway();
    await using _ = fresh;
    const res = await fresh.chat(
      "talk",
      `Hello [[simulate: ${orders}]]`,
      stream ? { stream: true } : {},
    );
    assert.equal(res.status, 503, orders);
    assert.equal((await errorOf(res)).code, code, orders);
    assert.equal((await fresh.receipt(res)).settled, "0.00", orders);
    assert.deepEqual(await fresh.balance(), { available: "100.00", frozen: "0.00" });
  }
});

Deno.test("a stream that breaks ends with an error event and no [DONE], and what came is paid for", async () => {
  await using gateway = await openChatGateway();
  for (const orders of ["cut=4", "truncate=4", "garbage=4", "error=4", "hang=4"]) {
    const res = await gateway.chat("talk", `Hello [[simulate: ${orders}]]`, { stream: true });
    assert.equal(res.status, 200);
    const events = await eventsOf(res);
    assert.ok(!events.includes("[DONE]"), orders);
    assert.equal(events.at(-1).error.type, "api_error", orders);
    assert.equal(events.at(-1).request_id, res.headers.get("x-request-id"));
    assert.ok(events.length >= 3 && events.length <= 6, `${orders}: ${events.length}`);
    const receipt = await gateway.receipt(res);
    assert.equal(receipt.status, "settled", orders);
    assert.equal(receipt.usage.estimated, true, orders);
    assert.ok(Number(receipt.settled) > 0, orders);
  }
  await gateway.verify();
});

Deno.test("however the wire is cut, the same events come out", async () => {
  await using gateway = await openChatGateway();
  const texts = new Set<string>();
  for (
    const orders of [
      "tokens=30",
      "tokens=30 crlf",
      "tokens=30 multiline",
      "tokens=30 comments",
      "tokens=30 split=1",
      "tokens=30 batch",
      "tokens=30 crlf split=3 comments",
    ]
  ) {
    const events = await eventsOf(
      await gateway.chat("talk", `Grüße, 世界 🌍 [[simulate: ${orders}]]`, { stream: true }),
    );
    assert.equal(events.at(-1), "[DONE]", orders);
    texts.add(events.slice(0, -1).map((event) => event.choices[0].delta.content ?? "").join(""));
  }
  assert.equal(texts.size, 1);
  const huge = await eventsOf(
    await gateway.chat("talk", "Hello [[simulate: huge=1000000]]", { stream: true }),
  );
  assert.equal(huge.at(-1), "[DONE]");
  assert.ok(huge.some((event) => event.choices?.[0]?.delta?.content?.length >= 900_000));
});

Deno.test("a client that leaves stops the upstream and pays for what was produced", async () => {
  const simulator = openSimulator();
  await using gateway = await openChatGateway({ simulator });
  const leaving = new AbortController();
  const res = await gateway.chat("slow", "Tell me a long story", { stream: true }, {
    signal: leaving.signal,
  });
  const reader = res.body!.getReader();
  for (let i = 0; i < 6; i++) await reader.read();
  leaving.abort();
  await until("the upstream is cancelled", () => simulator.counters.cancelled === 1);
  await until(
    "the hold is settled",
    async () => (await gateway.receipt(res)).status === "settled",
  );
  const { usage } = await gateway.receipt(res);
  assert.ok(usage.output_tokens >= 3 && usage.output_tokens < 40, JSON.stringify(usage));
  await gateway.verify();
});

Deno.test("on_disconnect: drain reads on to the end and pays for all of it", async () => {
  await using gateway = await openChatGateway();
  const leaving = new AbortController();
  const res = await gateway.chat("draining", "A story [[simulate: tokens=30]]", { stream: true }, {
    signal: leaving.signal,
  });
  await res.body!.getReader().read();
  leaving.abort();
  await until(
    "the hold is settled",
    async () => (await gateway.receipt(res)).status === "settled",
  );
  const { usage } = await gateway.receipt(res);
  assert.equal(usage.output_tokens, 30);
  assert.equal(usage.estimated, undefined);
});

Deno.test("a client that leaves before the first byte of a whole answer costs nothing", async () => {
  await using gateway = await openChatGateway();
  const leaving = new AbortController();
  const call = gateway.chat("slow", "Hello [[simulate: latency=5s]]", {}, {
    signal: leaving.signal,
  });
  await until("it is held", async () => (await gateway.balance()).frozen !== "0.00");
  leaving.abort();
  await assert.rejects(call);
  await until("it is released", async () => (await gateway.balance()).frozen === "0.00");
  assert.equal((await gateway.balance()).available, "100.00");

  const lines = () =>
    gateway.logged().split("\n").filter((line) => line.includes('"path":"/v1/chat'));
  await until("it is logged", () => lines().length > 0);
  const { level, status, code } = JSON.parse(lines()[0]!);
  assert.deepEqual([level, status, code], ["info", 499, "client_disconnected"]);
  assert.doesNotMatch(gateway.logged(), /internal_error|"level":"error"/, "it is no fault of ours");
  const metrics = await (await gateway.fetch("/metrics", {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })).text();
  assert.match(
    metrics,
    /tollgate_request_seconds_count\{route="\/chat\/completions",method="POST",status="499"\} 1/,
  );
  assert.doesNotMatch(metrics, /tollgate_api_errors_total\{/);
});

Deno.test("an upstream's place is given back however a request ends", async () => {
  await using gateway = await openChatGateway();
  for (let i = 0; i < 3; i++) {
    const leaving = new AbortController();
    const res = await gateway.chat("narrow", "Hello", { stream: true }, { signal: leaving.signal });
    assert.equal(res.status, 200, `round ${i}`);
    await res.body!.getReader().read();
    const busy = await gateway.chat("narrow", "Hello");
    assert.equal(busy.status, 503, "one at a time");
    await busy.body?.cancel();
    leaving.abort();
    await until("the place is free", async () => {
      const again = await gateway.chat("narrow", "Hello [[simulate: tokens=1]]");
      await again.body?.cancel();
      return again.status === 200;
    });
  }
});
