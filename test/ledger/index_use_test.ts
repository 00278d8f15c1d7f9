import assert from "node:assert/strict";
import { holdItem } from "../../src/domain/ledger/hold.ts";
import { amountFields, type Item, runItems } from "../../src/domain/ledger/item.ts";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { newId } from "../../src/lib/ids.ts";
import { fraction } from "../../src/lib/money.ts";
import { until } from "../helpers/chat_gateway.ts";
import { asking, openLedger } from "../helpers/open_ledger.ts";

Deno.test("holds and receipts are found by their ids, also if Postgres last saw no rows", async () => {
  await using ledger = await openLedger({ cash: "10" });
  const { sql, account } = ledger;
  await sql`vacuum analyze`;
  await sql`select pg_stat_reset()`;
  const hold = holdItem(asking({ account, amount: "1" }), 6);
  const price = amountFields(fraction("0.25"), 0n);
  const drawn: Item = {
    ...hold,
    ...price,
    ...{ op: "charge", id: newId("req"), reserve_id: "rsv_gone", is_told: false, may_wait: false },
    ...{ allocations: [`cash:${account}`], held: ["1"], amount: "1", max_units: "0" },
    begun_at: new Date().toISOString(),
  };
  // One session, which plans each look-up while there are no rows, and reports at the end what it has read.
  await sql.begin(async (tx) => {
    assert.equal(await findReceipt(tx, account, hold.id, "EUR"), null);
    for (const item of [drawn, hold, { ...hold, op: "settle", ...price } as const]) {
      const [done] = await runItems(tx, [item]);
      assert.match(done!.outcome, /^(held|resolved)$/);
    }
    assert.equal((await findReceipt(tx, account, hold.id, "EUR"))?.status, "settled");
  });
  const used = async () => {
    const rows = await sql<{ name: string }[]>`
      select indexrelname as name from pg_stat_user_indexes
       where idx_scan > 0 and (relname = 'hold' or relname ~ '^receipt_(2|default)')`;
    return rows.map(({ name }) => name);
  };
  await until("it has reported", async () => (await used()).length > 0, 20);
  assert.deepEqual((await used()).filter((name) => !name.endsWith("_pkey")), []);
});
