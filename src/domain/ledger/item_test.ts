import assert from "node:assert/strict";
import { readRows } from "../../../test/helpers/read_rows.ts";
import type { Queries } from "../../platform/database/database.ts";
import { type Item, runItems } from "./item.ts";

Deno.test("charges that are booked at once have one scale, also while the currency changes", async () => {
  const sent: unknown[] = [];
  const sql = ((_: TemplateStringsArray, ...values: unknown[]) => {
    sent.push(...values);
    return Promise.resolve([]);
  }) as unknown as Queries;
  const charge = (id: string, scale: number): Item => ({
    op: "charge",
    id,
    account_id: "acc_1",
    num: "1",
    den: "1",
    units: "1",
    scale,
    reserve_id: "rsv_1",
    allocations: ["cash:acc_1"],
    held: ["1"],
  });
  await runItems(sql, [charge("req_1", 6), charge("req_2", 2), charge("req_3", 6)]);
  const [others, _groups, rows, scale] = sent;
  assert.deepEqual(readRows(rows as string).map(([id]) => id), ["req_1", "req_3"]);
  assert.equal(scale, 6);
  assert.deepEqual(JSON.parse(others as string).map(({ id, scale }: Item) => [id, scale]), [[
    "req_2",
    2,
  ]]);
});
