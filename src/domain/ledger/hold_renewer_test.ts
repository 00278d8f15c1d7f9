import assert from "node:assert/strict";
import type { Queries } from "../../platform/database/database.ts";
import { HoldRenewer } from "./hold_renewer.ts";

Deno.test("holds are renewed every twenty seconds until their time is over", async () => {
  let now = 0;
  const asked: string[][] = [];
  let renewed = (ids: string[]) => ids;
  const sql = ((_: unknown, ids: string[]) => {
    asked.push(ids);
    return Promise.resolve(renewed(ids).map((id) => ({ id })));
  }) as unknown as Queries;
  const renewer = new HoldRenewer(() => now);
  const renewAt = async (moment: number) => {
    now = moment;
    asked.length = 0;
    await renewer.renew(sql);
    return asked.flat();
  };
  renewer.add("short", 30);
  renewer.add("long", 100);
  renewer.add("done", 100);
  renewer.delete("done");
  assert.equal(renewer.size, 2);
  assert.deepEqual(await renewAt(19_999), []);
  assert.equal(asked.length, 0, "no statement");
  assert.deepEqual(await renewAt(20_000), ["short", "long"]);
  assert.deepEqual(await renewAt(39_999), []);
  assert.equal(renewer.size, 1, "the short one's time was over");
  renewed = () => [];
  assert.deepEqual(await renewAt(40_000), ["long"]);
  assert.deepEqual(await renewAt(40_001), ["long"], "again, because it was locked");
  renewed = (ids) => {
    renewer.delete("long");
    return ids;
  };
  assert.deepEqual(await renewAt(40_002), ["long"]);
  assert.equal(renewer.size, 0, "one that was resolved meanwhile stays so");
  renewer.add("last", 20);
  assert.deepEqual(await renewAt(60_002), [], "its time is over when it would be renewed");
});

Deno.test("a renewer of its own uses the clock of the process", async () => {
  const renewer = new HoldRenewer();
  renewer.add("req_1", 0);
  await renewer.renew(undefined as unknown as Queries);
  assert.equal(renewer.size, 0);
});
