import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openKillable } from "../helpers/killable_gateway.ts";

Deno.test(
  "a gateway killed while an upstream takes long to accept a job: the next one waits for it, and submits nothing",
  { sanitizeOps: true, sanitizeResources: true },
  async () => {
    await using store = await freshDatabase();
    await using database = await store.open();
    await using gateway = await openKillable(store);
    const { studio } = gateway;
    await gateway.start();
    const { key } = await gateway.account();
    const task = await gateway.submit(key, { prompt: "hold-accept" });
    await until("the upstream has the request", () => studio.waiting("accept") === 1, 30);
    await gateway.kill();
    await gateway.start();
    // The lease expires; the worker that takes over finds no job, for longer than ten seconds after it was sent.
    await until("it was looked for", async () => {
      const [row] = await database.sql`
        select from task where id = ${task.id} and phase = 'submitting' and fence >= 2
           and lease_until is null and submitted_at < now() - interval '11 seconds'`;
      return row !== undefined || (studio.submissions.get(task.id) ?? 0) > 1;
    }, 40);
    studio.letGo("accept");
    const done = await gateway.ended(key, task.id, 40);
    assert.equal(done.status, "succeeded", JSON.stringify(done));
    assert.equal(studio.submissions.get(task.id), 1);
    await gateway.verify();
  },
);
