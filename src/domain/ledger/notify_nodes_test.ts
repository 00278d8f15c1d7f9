import assert from "node:assert/strict";
import { commitChange } from "../../platform/cluster/change.ts";
import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Database, Queries } from "../../platform/database/database.ts";
import { setPlan } from "./plans.ts";
import { slowDownIfRepeated, slowedUntil } from "./slow_down.ts";

/** A database whose one statement gives this result, and a cluster that remembers what it is told. */
function open(result: unknown) {
  const told: unknown[][] = [];
  const parameters: unknown[] = [];
  let isCommitted = false;
  const tx = (_: unknown, ...values: unknown[]) => {
    parameters.push(...values);
    return Promise.resolve(result);
  };
  const database = {
    sql: {
      async begin<T>(work: (sql: unknown) => Promise<T>): Promise<T> {
        const value = await work(tx);
        isCommitted = true;
        return value;
      },
    },
  } as unknown as Database;
  const cluster = {
    record: (sql: unknown, kind: string, id: string) => {
      told.push(["record", sql === tx, kind, id]);
      return Promise.resolve(7);
    },
    awaitPeers: async (mark: unknown) => {
      await new Promise((resolve) => setTimeout(resolve));
      told.push(["awaitPeers", mark, isCommitted]);
    },
  } as unknown as Cluster;
  return { database, cluster, told, parameters };
}

const TOLD = [["record", true, "account", "acc_1"], ["awaitPeers", 7, true]];

Deno.test("a new plan is told to all nodes once it is committed; the same plan again is not", async () => {
  const set = async (outcome: string) => {
    const { database, cluster, told } = open([{ outcome }]);
    await commitChange(
      { database, cluster },
      (change) => setPlan(change, { account: "acc_1", plan: "pro" }),
    );
    return told;
  };
  assert.deepEqual(await set("changed"), TOLD);
  assert.deepEqual(await set("same"), []);
  await assert.rejects(set("unknown"), { code: "not_found" });
  await assert.rejects(set("past"), { code: "invalid_value", param: "expires_at" });
});

Deno.test("an account that is slowed is told to all nodes: for an hour, after three shortfalls in one", async () => {
  const slowed = open({ count: 1 });
  assert.equal(await slowDownIfRepeated(slowed.database, slowed.cluster, "acc_1"), true);
  assert.deepEqual(slowed.told, TOLD);
  assert.deepEqual(slowed.parameters, [3600, "acc_1", "acc_1", 3600, "acc_1", 3, 3]);
  const not = open({ count: 0 });
  assert.equal(await slowDownIfRepeated(not.database, not.cluster, "acc_1"), false);
  assert.deepEqual(not.told, []);
});

Deno.test("an account that was never slowed down is not slow", async () => {
  const until = (...rows: unknown[]) =>
    slowedUntil((() => Promise.resolve(rows)) as unknown as Queries, "acc_1");
  assert.equal(await until({ slowed_until: new Date(5) }), 5);
  assert.equal(await until({ slowed_until: null }), 0);
  assert.equal(await until(), 0);
});
