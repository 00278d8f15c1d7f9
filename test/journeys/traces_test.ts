import assert from "node:assert/strict";
import { openChatGateway, until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { ADMIN_TOKEN, openGateway } from "../helpers/open_gateway.ts";
import { type CollectedSpan, type Collector, openCollector } from "../helpers/otlp_collector.ts";
import { startReceiver } from "../helpers/receiver.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;
const [SERVER, CLIENT] = [2, 3];

function find(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.find((span) => span.name === name);
  assert.ok(found, `${name} is among ${spans.map((span) => span.name).join(", ")}`);
  return found;
}

async function collected(collector: Collector, ...names: string[]): Promise<CollectedSpan[]> {
  const isThere = (name: string) => collector.spans.some((span) => span.name === name);
  await until(
    `spans ${names.join(", ")} among ${collector.spans.map((s) => s.name)}`,
    () => Promise.resolve(names.every(isThere)),
    30,
  );
  return collector.spans;
}

Deno.test("a streamed chat is one trace: request, authentication, hold, every attempt, first byte, settlement", async () => {
  await using collector = openCollector({ OTEL_EXPORTER_OTLP_HEADERS: { "x-team": "a b" } });
  await using gateway = await openChatGateway({ settings: { tracing: collector.settings } });
  const res = await gateway.chat("backed", "a secret of mine", { stream: true }, {
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "content-type": "application/json",
      traceparent: TRACEPARENT,
      tracestate: "vendor=1",
    },
  });
  assert.match(await res.text(), /data: \[DONE\]/);
  const name = "POST /v1/chat/completions";
  const spans = (await collected(collector, name)).filter(({ traceId }) => traceId === TRACE);
  const request = find(spans, name);
  assert.deepEqual([request.kind, request.parentSpanId], [SERVER, CALLER]);
  assert.equal(request.traceState, "vendor=1");
  assert.deepEqual(
    [request.resource["service.name"], typeof request.resource["service.version"]],
    ["tollgate", "string"],
  );
  const { attributes } = request;
  assert.equal(attributes["http.request.method"], "POST");
  assert.equal(attributes["http.route"], "/v1/chat/completions");
  assert.equal(attributes["http.response.status_code"], 200);
  assert.equal(attributes["gen_ai.request.model"], "backed");
  assert.equal(attributes["tollgate.request.id"], res.headers.get("x-request-id"));
  assert.equal(attributes["tollgate.account.id"], gateway.account);
  assert.match(String(attributes["tollgate.charge"]), /^\d+(\.\d+)?$/);
  assert.deepEqual(request.status, {});

  const children = spans.filter(({ parentSpanId }) => parentSpanId === request.spanId);
  assert.deepEqual(children.map((child) => child.name).sort(), [
    "authenticate",
    "chat chat",
    "chat chat",
    "hold",
    "settle",
  ]);
  for (const child of children) {
    assert.ok(child.startedAt >= request.startedAt && child.endedAt <= request.endedAt, child.name);
  }
  const [failed, answered] = children.filter(({ kind }) => kind === CLIENT) as [
    CollectedSpan,
    CollectedSpan,
  ];
  assert.deepEqual(
    [failed.attributes["gen_ai.provider.name"], failed.attributes["error.type"], failed.status],
    ["sick", "failed", { code: 2, message: "failed" }],
  );
  assert.equal(answered.attributes["gen_ai.provider.name"], "sim");
  assert.equal(answered.attributes["gen_ai.operation.name"], "chat");
  assert.equal(answered.attributes["gen_ai.request.model"], "chat");
  for (const kind of ["input", "output"]) {
    const tokens = answered.attributes[`gen_ai.usage.${kind}_tokens`];
    assert.ok(Number.isInteger(tokens) && Number(tokens) > 0, `${kind}: ${tokens}`);
    assert.equal(failed.attributes[`gen_ai.usage.${kind}_tokens`], undefined);
  }
  assert.deepEqual(answered.events, ["first byte"]);
  assert.ok(!collector.bodies.join().includes("a secret of mine"), "no prompt leaves");
  assert.equal(collector.headers[0]!.get("x-team"), "a b");
});

Deno.test("a video is one trace from its request to its webhook, and the receiver gets the context", async () => {
  await using collector = openCollector();
  await using receiver = startReceiver();
  await using gateway = await openMediaGateway({
    settings: { tracing: collector.settings },
    cash: "10",
  });
  const body = {
    model: "video-model",
    prompt: "a tide, without a moon [[simulate: seconds=0.5]]",
    duration: 1,
    aspect_ratio: "1:1",
    callback_url: `${receiver.url}/secret-path`,
  };
  const { id } = await gateway.submit("/v1/videos/generations", body, { traceparent: TRACEPARENT });
  assert.equal((await gateway.ended(id)).status, "succeeded");
  const names = ["POST /v1/videos/generations", "task submit", "settle", "webhook attempt"];
  const spans = (await collected(collector, ...names)).filter(({ traceId }) => traceId === TRACE);
  const request = find(spans, "POST /v1/videos/generations");
  assert.equal(request.attributes["tollgate.task.id"], id);
  assert.equal(find(spans, "hold").parentSpanId, request.spanId);
  const submit = find(spans, "task submit");
  assert.equal(submit.parentSpanId, request.spanId);
  const call = find(spans, "generate_content canary-video");
  assert.deepEqual([call.kind, call.parentSpanId], [CLIENT, submit.spanId]);
  assert.deepEqual(
    ["operation.name", "provider.name", "request.model", "output.type"].map((key) =>
      call.attributes[`gen_ai.${key}`]
    ),
    ["generate_content", "canary-provider", "canary-video", "video"],
  );
  assert.ok(find(spans, "task accepted").startedAt >= submit.endedAt);
  assert.equal(find(spans, "settle").attributes["tollgate.task.status"], "succeeded");
  const webhook = find(spans, "webhook attempt");
  assert.equal(webhook.parentSpanId, request.spanId);
  assert.deepEqual(
    [webhook.attributes["server.address"], webhook.attributes["http.response.status_code"]],
    ["127.0.0.1", 200],
  );
  assert.equal(receiver.received[0]!.headers.traceparent, `00-${TRACE}-${webhook.spanId}-01`);
  const sent = collector.bodies.join();
  assert.ok(!sent.includes("without a moon") && !sent.includes("secret-path"));
});

Deno.test("errors, samplers and probes: what the caller does not keep has no trace, and what fails says why", async () => {
  await using collector = openCollector();
  await using gateway = await openGateway({ settings: { tracing: collector.settings } });
  const ask = async (path: string, headers: Record<string, string>) => {
    const res = await gateway.fetch(path, { headers });
    await res.body?.cancel();
  };
  await ask("/healthz", {});
  await ask("/metrics", { authorization: `Bearer ${ADMIN_TOKEN}` });
  await ask("/v1/models", { traceparent: `00-${TRACE}-${CALLER}-00` });
  await ask("/v1/models?key=in-the-query", { authorization: "Bearer wrong" });
  const [only, ...others] = (await collected(collector, "GET /v1/models"))
    .filter(({ kind }) => kind === SERVER);
  assert.deepEqual(others, []);
  assert.equal(only!.attributes["http.response.status_code"], 401);
  assert.equal(only!.attributes["tollgate.error.code"], "invalid_api_key");
  assert.equal(only!.parentSpanId, "");
  assert.ok(!collector.bodies.join().includes("in-the-query"));
});

Deno.test("a collector that is down costs no request anything: its spans are lost and counted, with one warning", async () => {
  await using collector = openCollector();
  collector.status = 503;
  await using gateway = await openGateway({ settings: { tracing: collector.settings } });
  for (let n = 0; n < 3; n++) {
    const res = await gateway.get("/v1/models");
    assert.equal(res.status, 200);
    await res.body?.cancel();
    await until("it was asked", () => Promise.resolve(collector.bodies.length > n));
  }
  const metrics = async () => {
    const res = await gateway.fetch("/metrics", {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    return await res.text();
  };
  await until("spans are counted", async () => {
    const lost = /tollgate_spans_lost_total\{reason="failed"\} (\d+)/.exec(await metrics())?.[1];
    return Number(lost) >= 3;
  });
  assert.equal(gateway.logged().split("spans not exported").length, 2);
});
