import assert from "node:assert/strict";
import { keepCountersOfExited, mergeMetrics } from "./merge_metrics.ts";
import { openMetrics, registerInFlightGauge } from "./metrics.ts";
import { openTaskMetrics, registerTaskGauges } from "./task_metrics.ts";
import { VERSION } from "./version.ts";

/** A thread that has answered `requests` requests, and sees seven queued tasks as every thread does. */
async function thread(requests: number) {
  const metrics = openMetrics({ version: () => "v1" });
  registerInFlightGauge(metrics.registry, () => 1);
  const tasks = openTaskMetrics(metrics.registry);
  registerTaskGauges(metrics.registry, {
    count: () => Promise.resolve({ queued: 7, running: 0, dead: 0, late_seconds: requests }),
    depth: () => [],
  });
  for (let n = 0; n < requests; n++) {
    metrics.requests.observe("/v1/models", "GET", 200, 3);
    tasks.steps.observe({ kind: "task", outcome: "done" }, 0.01);
  }
  metrics.apiErrors.inc({ code: `code_${requests}` });
  // As it comes from another thread.
  return structuredClone(await metrics.collect());
}

Deno.test("counters of threads are added up; a count of the database is reported once", async () => {
  const text = await mergeMetrics([await thread(2), await thread(3)]);
  const line = (text: string) => new RegExp(`^${text.replaceAll(/[{}+.]/g, "\\$&")}$`, "m");
  for (
    const expected of [
      `tollgate_request_seconds_bucket{route="/v1/models",method="GET",status="200",le="0.0025"} 0`,
      `tollgate_request_seconds_bucket{route="/v1/models",method="GET",status="200",le="+Inf"} 5`,
      `tollgate_request_seconds_count{route="/v1/models",method="GET",status="200"} 5`,
      `tollgate_queue_step_seconds_count{kind="task",outcome="done"} 5`,
      `tollgate_api_errors_total{code="code_2"} 1`,
      `tollgate_api_errors_total{code="code_3"} 1`,
      `tollgate_requests_in_flight 2`,
      `tollgate_tasks{state="queued"} 7`,
      `tollgate_tasks_late_seconds 3`,
      `tollgate_info{version="${VERSION}",config_version="v1"} 1`,
    ]
  ) assert.match(text, line(expected));
});

Deno.test("counters of exited threads stay, gauges do not", async () => {
  const kept = await keepCountersOfExited([
    await keepCountersOfExited([await thread(2)]),
    await thread(3),
  ]);
  const text = await mergeMetrics([kept, await thread(5)]);
  assert.match(text, /^tollgate_request_seconds_count\{.*\} 10$/m);
  assert.match(text, /^tollgate_requests_in_flight 1$/m);
  assert.match(text, /^tollgate_api_errors_total\{code="code_2"\} 1$/m);
});
