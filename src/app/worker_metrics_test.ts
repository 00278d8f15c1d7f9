import assert from "node:assert/strict";
import { WorkerMetrics } from "./worker_metrics.ts";

const open = () => {
  const metrics = new WorkerMetrics<string>({
    keep: (collected) => Promise.resolve(collected.map(Number).reduce((sum, each) => sum + each, 0)),
    answerMs: 10,
  });
  for (const thread of ["a", "b", "c"]) metrics.add(thread);
  return metrics;
};

Deno.test("all threads but the asker are asked, and requests at the same time share the answers", async () => {
  const metrics = open();
  const asked: string[] = [];
  const ask = (thread: string) => {
    asked.push(thread);
    setTimeout(() => metrics.receive(thread, thread === "b" ? 2 : 3));
  };
  metrics.receive("a", 1);
  const both = await Promise.all([metrics.collect("a", ask), metrics.collect("a", ask)]);
  assert.deepEqual(both, [[1, 2, 3], [1, 2, 3]]);
  assert.deepEqual(asked, ["b", "c"]);
});

Deno.test("a thread that does not answer counts with its last metrics, if any, and is not asked twice", async () => {
  const metrics = open();
  const asked: string[] = [];
  metrics.receive("a", 1);
  metrics.receive("b", 2);
  const ask = (thread: string) => void asked.push(thread);
  assert.deepEqual(await metrics.collect("a", ask), [1, 2]);
  assert.deepEqual(await metrics.collect("a", ask), [1, 2]);
  assert.deepEqual(asked, ["b", "c"]);
  metrics.receive("c", 3);
  assert.deepEqual(await metrics.collect("a", ask), [1, 2, 3]);
  assert.deepEqual(asked, ["b", "c", "c"]);
});

Deno.test("metrics of exited threads are kept, merged, and not waited for", async () => {
  const metrics = open();
  metrics.receive("a", 1);
  metrics.receive("b", 2);
  metrics.receive("c", 4);
  const collecting = metrics.collect("a", () => {
    metrics.remove("b");
    metrics.remove("c");
  });
  assert.deepEqual(await collecting, [6, 1]);
  metrics.add("d");
  metrics.receive("d", 8);
  metrics.receive("b", 100);
  assert.deepEqual(await metrics.collect("d", () => {}), [6, 1, 8]);
});
