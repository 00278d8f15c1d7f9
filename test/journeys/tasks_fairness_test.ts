import assert from "node:assert/strict";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "a good job is done at once beside eight that make its upstream fail, and those fail in their time",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const { sql } = gateway.gateway.database;
    const submitVideo = (prompt: string) =>
      gateway.submit("/v1/videos/generations", { model: "video-model", prompt, duration: 1 });
    const bad: string[] = [];
    for (let n = 0; n < 8; n++) bad.push((await submitVideo("[[simulate: status=500]] a tide")).id);
    await until("each has failed once", async () => {
      const [{ n }] = await sql<[{ n: number }]>`
        select count(*)::int as n from task where last_failure = 'failed'`;
      return n === 8;
    }, 20);
    const { data } = await (await gateway.admin("GET", "/providers")).json();
    const health = data[0].upstreams.find(({ model }: Json) => model === "video-model");
    assert.equal(health.state, "open");
    // The breaker stays open for five seconds at least.
    const good = await gateway.ended((await submitVideo("a tide")).id);
    assert.equal(good.status, "succeeded");
    const [{ waited }] = await sql<[{ waited: number }]>`
      select extract(epoch from started_at - created_at)::float8 as waited
        from task where id = ${good.id}`;
    assert.ok(waited < 4, `waited for ${waited} s`);
    // The upstream has shown that it is well: what is left are failures of these jobs.
    for (const id of bad) {
      const task = await gateway.ended(id, 60);
      assert.deepEqual([task.status, task.error.code], ["failed", "upstream_failed"]);
    }
    assert.equal((await gateway.balance()).frozen, "0.00");
    await gateway.verify();
  },
);
