import assert from "node:assert/strict";
import { openCollector } from "../../../test/helpers/otlp_collector.ts";
import { Span } from "./span.ts";
import { SpanExporter } from "./span_exporter.ts";

const ROOT = { traceId: "a".repeat(32), spanId: "", state: "" };
const RESOURCE = { attributes: { "service.name": "test" }, version: "1" };

function openExporter(url: string, limits: { spansMax?: number; batchMax?: number } = {}) {
  const lost: { spans: number; reason: string }[] = [];
  const exporter = new SpanExporter({
    url,
    headers: {},
    resource: RESOURCE,
    limits: {
      ...{ spansMax: 10, batchMax: 4, gatherMs: 60_000, timeoutMs: 2_000, closeMs: 2_000 },
      ...limits,
    },
    onLoss: ({ spans, reason }) => lost.push({ spans, reason }),
  });
  return { exporter, lost, add: (name: string) => new Span(exporter, name, ROOT).end() };
}

Deno.test("spans leave in batches, the last ones when it closes, with every kind of value", async () => {
  await using collector = openCollector();
  {
    const { exporter, add, lost } = openExporter(collector.settings.url);
    await using _closing = exporter;
    for (const name of ["1", "2", "3"]) add(name);
    const span = new Span(exporter, "all", ROOT, {
      kind: "client",
      attributes: { text: "a", whole: 7, part: 0.5, yes: true, list: ["a", "b"] },
    });
    span.addEvent("first byte");
    span.fail("timeout");
    span.end();
    await exporter.flush();
    assert.equal(collector.spans.length, 4);
    add("last");
    assert.deepEqual(lost, []);
  }
  assert.deepEqual(collector.spans.map(({ name }) => name), ["1", "2", "3", "all", "last"]);
  const { attributes, status, events, resource, kind } = collector.spans[3]!;
  assert.deepEqual(attributes, {
    ...{ text: "a", whole: 7, part: 0.5, yes: true, list: ["a", "b"] },
    "error.type": "timeout",
  });
  assert.deepEqual(
    [status, events, resource, kind],
    [{ code: 2, message: "timeout" }, ["first byte"], { "service.name": "test" }, 3],
  );
});

Deno.test("more spans than may wait are lost, and those that the collector refuses", async () => {
  await using collector = openCollector();
  const { exporter, add, lost } = openExporter(collector.settings.url, {
    spansMax: 2,
    batchMax: 10,
  });
  await using _closing = exporter;
  for (const name of ["1", "2", "3"]) add(name);
  assert.deepEqual(lost, [{ spans: 1, reason: "full" }]);
  collector.status = 500;
  await exporter.flush();
  assert.deepEqual(lost[1], { spans: 2, reason: "failed" });
});

Deno.test("a collector that cannot be reached loses spans, and nothing else", async () => {
  const { exporter, add, lost } = openExporter("http://127.0.0.1:9/v1/traces");
  await using _closing = exporter;
  add("1");
  await exporter.flush();
  assert.deepEqual(lost, [{ spans: 1, reason: "failed" }]);
});
