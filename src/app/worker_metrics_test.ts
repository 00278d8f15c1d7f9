import assert from "node:assert/strict";
import { WorkerMetrics } from "./worker_metrics.ts";

const open = () => {
  const survey = new WorkerMetrics<string>({
    keep: (said) => Promise.resolve(said.map(Number).reduce((sum, each) => sum + each, 0)),
    patienceMs: 10,
  });
  for (const thread of ["a", "b", "c"]) survey.add(thread);
  return survey;
};

Deno.test("everybody but the one who asks is asked, and those who ask at once share the answers", async () => {
  const survey = open();
  const asked: string[] = [];
  const ask = (thread: string) => {
    asked.push(thread);
    setTimeout(() => survey.hear(thread, thread === "b" ? 2 : 3));
  };
  survey.hear("a", 1);
  const both = await Promise.all([survey.gather("a", ask), survey.gather("a", ask)]);
  assert.deepEqual(both, [[1, 2, 3], [1, 2, 3]]);
  assert.deepEqual(asked, ["b", "c"]);
});

Deno.test("a silent thread counts with what it said last, or not at all, and is not asked twice", async () => {
  const survey = open();
  const asked: string[] = [];
  survey.hear("a", 1);
  survey.hear("b", 2);
  const ask = (thread: string) => void asked.push(thread);
  assert.deepEqual(await survey.gather("a", ask), [1, 2]);
  assert.deepEqual(await survey.gather("a", ask), [1, 2]);
  assert.deepEqual(asked, ["b", "c"]);
  survey.hear("c", 3);
  assert.deepEqual(await survey.gather("a", ask), [1, 2, 3]);
  assert.deepEqual(asked, ["b", "c", "c"]);
});

Deno.test("what those have said who are gone stays, as one, and nobody waits for them", async () => {
  const survey = open();
  survey.hear("a", 1);
  survey.hear("b", 2);
  survey.hear("c", 4);
  const gathering = survey.gather("a", () => {
    survey.remove("b");
    survey.remove("c");
  });
  assert.deepEqual(await gathering, [6, 1]);
  survey.add("d");
  survey.hear("d", 8);
  survey.hear("b", 100);
  assert.deepEqual(await survey.gather("d", () => {}), [6, 1, 8]);
});
