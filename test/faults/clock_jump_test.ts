import assert from "node:assert/strict";
import { watchClock } from "../../src/lib/watch_clock.ts";
import { until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const VIDEOS = "/v1/videos/generations";
const HOUR_MS = 3_600_000;

for (const hours of [3, -3]) {
  Deno.test(
    `embedded: the system clock jumps by ${hours} hours, is followed with a warning, and a task ends as usual`,
    STRICT,
    async () => {
      await using store = await freshDatabase({ isEmbedded: true });
      let jumpMs = 0;
      await using gateway = await openMediaGateway({
        store,
        timing: { clock: { everyMs: 20, wall: () => Date.now() + jumpMs } },
      });
      const { sql } = gateway.gateway.database;
      const databaseNow = async () => {
        const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now`;
        return row.now.getTime();
      };
      const { id } = await gateway.submit(VIDEOS, {
        model: "video-model",
        prompt: "[[simulate: seconds=2]] x",
        duration: 1,
      });
      await until("it is running", async () => {
        const [row] = await sql`select from task where id = ${id} and phase = 'accepted'`;
        return row !== undefined;
      }, 10);
      const spans = async () => {
        const [row] = await sql<[{ deadline: number; hold: number }]>`
          select extract(epoch from t.deadline_at - clock_timestamp())::float8 as deadline,
                 extract(epoch from h.expires_at - clock_timestamp())::float8 as hold
            from task t join hold h on h.id = t.request_id where t.id = ${id}`;
        return row;
      };
      const before = await spans();
      jumpMs = hours * HOUR_MS;
      await until("the database follows", async () => {
        return Math.abs(await databaseNow() - (Date.now() + jumpMs)) < 1_000;
      }, 10);
      const after = await spans();
      assert.ok(Math.abs(before.deadline - after.deadline) < 10, JSON.stringify([before, after]));
      assert.ok(Math.abs(before.hold - after.hold) < 10, JSON.stringify([before, after]));
      const warning = gateway.logged().split("\n").find((line) => {
        return line.includes("system clock jumped");
      });
      assert.equal(Math.round(JSON.parse(warning!).seconds / 3600), hours);
      assert.equal((await gateway.ended(id, 15)).status, "succeeded");
      assert.equal((await gateway.balance()).frozen, "0.00");
      await gateway.verify();
    },
  );
}

Deno.test("clocks that run alike are no jump, and a jump is told once", async () => {
  let [wall, steady] = [1_000_000, 0];
  const moved: number[] = [];
  using _ = watchClock({
    everyMs: 1,
    wall: () => wall,
    steady: () => steady,
    onMoved: (ms) => void moved.push(ms),
  });
  const look = () => new Promise((resume) => setTimeout(resume, 10));
  for (let n = 0; n < 3; n++) {
    steady += 5_000;
    wall += 5_000;
    await look();
  }
  assert.deepEqual(moved, []);
  wall -= 60_000;
  await look();
  await look();
  assert.deepEqual(moved, [-60_000]);
});
