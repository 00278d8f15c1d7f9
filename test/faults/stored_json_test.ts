import assert from "node:assert/strict";
import { openTaskEngine } from "../helpers/task_engine.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const never = new AbortController().signal;

Deno.test(
  "a task whose stored JSON cannot be read fails at its next step and its hold is released",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { sql } = engine.database;
    const unreadable: [column: string, json: string][] = [
      ["job", '"not an object"'],
      ["job", '{"prompt": 7, "parameters": {}, "inputs": []}'],
      ["outputs", '[{"index": "first"}]'],
    ];
    for (const [column, json] of unreadable) {
      const { id } = await engine.submit({ model: "image-model" });
      await sql`update task set ${sql(column)} = ${json}::text::jsonb where id = ${id}`;
      assert.equal(await engine.worker.step(id, never), "done", "it is not tried again");
      const row = await engine.task(id);
      assert.deepEqual([row.status, row.error_code, row.hold_state], [
        "failed",
        "internal_error",
        "released",
      ]);
      assert.deepEqual(await engine.worker.due(10), []);
    }
    const { id } = await engine.submit({ model: "image-model" });
    await sql`
      update task set phase = 'copying', provider = 'canary-provider', upstream_model = 'canary-image',
                      result = '{"outputs": [{"url": 1}]}' where id = ${id}`;
    assert.equal(await engine.worker.step(id, never), "done");
    assert.equal((await engine.task(id)).error_code, "internal_error");
    assert.match(engine.logged(), /stored task unreadable, task failed and hold released/);
    assert.match(engine.logged(), /Cannot read stored job: prompt: invalid_type/);
    const { ok, checks } = await engine.verify();
    assert.ok(ok, JSON.stringify(checks));
  },
);

Deno.test(
  "a task stored without fields that were added later is done as before",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { sql } = engine.database;
    const { id } = await engine.submit({ model: "image-model" });
    await sql`update task set job = job - 'inputs' where id = ${id}`;
    const row = await engine.finish(id);
    assert.deepEqual([row.status, row.outputs.length], ["succeeded", 1]);
  },
);
