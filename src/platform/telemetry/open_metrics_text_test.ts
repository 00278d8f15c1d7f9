import assert from "node:assert/strict";
import { mergeMetrics } from "./merge_metrics.ts";
import { openMetrics } from "./metrics.ts";
import { openModelMetrics } from "./model_metrics.ts";
import { renderOpenMetrics } from "./open_metrics_text.ts";

const FACTS = {
  isConfigured: () => true,
  breakers: () => [{ provider: "a", model: 'quoted "x" \\', isOpen: true }],
  lastReload: () => ({ at: "2026-11-16T12:00:00Z", ok: true }),
};

/** A thread with one request that took some time, traced or not. */
async function thread(ms: number, traceId: string | null) {
  const metrics = openMetrics({ version: () => "v1" });
  const count = openModelMetrics(metrics, FACTS);
  const labels = { route: "/models", method: "BREW", status: 200 };
  metrics.requests.observe(labels.route, labels.method, labels.status, ms);
  metrics.apiErrors.inc({ code: "not_found" });
  if (traceId !== null) metrics.requests.rememberTrace(labels, ms, traceId);
  count({
    model: "m",
    isStream: true,
    tokens: { input: 1, cachedInput: 0, output: 1, reasoning: 0 },
    charge: "0.01",
    firstByteMs: ms,
    span: traceId === null ? null : { traceId },
    attempts: [{ provider: "a", outcome: "ok", durationMs: ms }],
  });
  // As it comes from another thread.
  return structuredClone(await metrics.collect());
}

const samplesOf = (text: string) =>
  text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

Deno.test("buckets have the newest traced request of all threads, and others have none", async () => {
  const first = await thread(3, "trace-1");
  const second = await thread(4, "trace-2");
  const text = await renderOpenMetrics([second, first, await thread(200_000, null)]);
  const exemplars = samplesOf(text).filter((line) => line.includes(" # "));
  assert.deepEqual(exemplars.map((line) => line.replace(/ [\d.]+$/, "")), [
    'tollgate_request_seconds_bucket{route="/models",method="other",status="200",le="0.005"} 2 # {trace_id="trace-2"} 0.004',
    'tollgate_model_first_byte_seconds_bucket{le="0.05",model="m"} 2 # {trace_id="trace-2"} 0.004',
    'tollgate_upstream_seconds_bucket{le="0.05",provider="a",outcome="ok"} 2 # {trace_id="trace-2"} 0.004',
  ]);
  for (const line of exemplars) assert.match(line, / \d{10}\.\d{3}$/);
});

Deno.test("OpenMetrics has the samples of Prometheus' format, a family for each, and an end", async () => {
  const collected = [await thread(3, "trace-1"), await thread(200_000, "trace-2")];
  const text = await renderOpenMetrics(collected);
  assert.deepEqual(
    samplesOf(text).map((line) => line.split(" # ")[0]).sort(),
    samplesOf(await mergeMetrics(collected)).sort(),
  );
  assert.ok(text.endsWith("\n# EOF\n"));
  assert.match(
    text,
    /^# TYPE tollgate_api_errors counter\ntollgate_api_errors_total\{code="not_found"\} 2$/m,
  );
  assert.match(
    text,
    /tollgate_upstream_breaker_open\{provider="a",model="quoted \\"x\\" \\\\"\} 1\n/,
  );
  assert.match(text, /le="\+Inf",model="m"\} 2 # \{trace_id="trace-2"\} 200 /);
  for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    assert.match(type!, /^(counter|gauge|histogram)$/);
    assert.doesNotMatch(name!, /_(total|bucket|count|sum)$/);
  }
  for (const { name, type } of collected[0]!) {
    if (String(type) === "counter") assert.match(name, /_total$/);
  }
});
