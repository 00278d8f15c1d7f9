import assert from "node:assert/strict";
import { asking, openLedger } from "../../../test/helpers/open_ledger.ts";
import { findReceipt, listUsage } from "./statement.ts";

Deno.test("usage is listed by time in either order, and says whether there is more", async () => {
  await using ledger = await openLedger({ cash: "10", clock: "2026-01-31T12:00:00Z" });
  const { sql, account } = ledger;
  for (const day of [1, 2, 3]) {
    await ledger.setClock(`2026-02-0${day}T00:00:00Z`);
    // Ids in another order than the times.
    await ledger.hold(asking({ id: `req_${9 - day}`, account, amount: "1" }));
  }
  const list = async (order: "asc" | "desc", limit: number, after?: string) => {
    const { data, hasMore } = await listUsage(sql, { account, order, limit, after }, "EUR");
    return [...data.map(({ id }) => id), hasMore];
  };
  assert.deepEqual(await list("asc", 3), ["req_8", "req_7", "req_6", false]);
  assert.deepEqual(await list("desc", 3), ["req_6", "req_7", "req_8", false]);
  assert.deepEqual(await list("asc", 2), ["req_8", "req_7", true]);
  assert.deepEqual(await list("asc", 2, "req_8"), ["req_7", "req_6", false]);
  assert.deepEqual(await list("desc", 1, "req_6"), ["req_7", true]);
  await ledger.hold(asking({ id: "req_1", account, amount: "1" }));
  assert.deepEqual(await list("asc", 4), ["req_8", "req_7", "req_1", "req_6", false]);
  assert.deepEqual(await list("desc", 2), ["req_6", "req_1", true], "of one time, by id");
  const count = async (filter: Partial<Parameters<typeof listUsage>[1]>) =>
    (await listUsage(sql, { account, order: "asc", limit: 9, ...filter }, "EUR")).data.length;
  const second = new Date("2026-02-02T00:00:00Z");
  assert.deepEqual([await count({ from: second }), await count({ to: second })], [3, 1]);
  assert.deepEqual([await count({ model: "sim-chat" }), await count({ model: "none" })], [4, 0]);
  await assert.rejects(list("asc", 1, "none"), { code: "invalid_value", param: "after" });
  assert.equal((await findReceipt(sql, account, "req_7", "EUR"))!.currency, "EUR");
  assert.equal(await findReceipt(sql, "acc_none", "req_7", "EUR"), null);
});
