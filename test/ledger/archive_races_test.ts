import assert from "node:assert/strict";
import { runLate } from "../../src/domain/ledger/item.ts";
import { settleItem } from "../../src/domain/ledger/settle.ts";
import { rollUpUsage, usageDays } from "../../src/domain/ledger/usage_days.ts";
import { newId } from "../../src/lib/ids.ts";
import { sweepStorage } from "../../src/workflows/retention/sweep_storage.ts";
import { NOW, openHistory, type TestHistory } from "../helpers/archived_history.ts";
import { until } from "../helpers/chat_gateway.ts";
import { asking, costing } from "../helpers/open_ledger.ts";

/** A request of January that its process gave up on, and that the sweeper resolved. */
async function holdUnsettled({ ledger, account }: TestHistory): Promise<string> {
  const accepted = "2026-01-15T00:00:00Z";
  await ledger.setClock(accepted);
  const id = newId("req", Date.parse(accepted));
  (await ledger.hold(asking({ id, account, amount: "1", ttlSeconds: 60 }))).keep();
  await ledger.setClock("2026-01-15T00:10:00Z");
  await ledger.sweep();
  await ledger.setClock(NOW);
  return id;
}

/** What the transaction that folds a month writes and deletes. */
async function foldedRows({ sql }: TestHistory): Promise<unknown> {
  const [rows] = await sql`
    select (select count(*)::int from receipt_total) as receipt_totals,
           (select count(*)::int from transfer_total) as transfer_totals,
           (select count(*)::int from archived_reference) as "references",
           (select count(*)::int from archive_remainder) as remainders,
           (select count(*)::int from balance_bucket where source = 'quota') as quotas,
           (select count(*)::int from plan_term) as terms`;
  return { ...rows };
}

Deno.test("a month is not folded when a late settlement commits meanwhile, and the next sweep archives it", async () => {
  await using history = await openHistory();
  const { ledger, archives, sql, account } = history;
  const id = await holdUnsettled(history);
  await rollUpUsage(sql);
  await ledger.mustBeSound();
  const before = await foldedRows(history);
  const { promise: isSettled, resolve: settled } = Promise.withResolvers<void>();
  const late = sql.begin(async (tx) => {
    assert.equal(
      (await runLate(tx, settleItem(id, costing("0.5"), account))).outcome,
      "resolved",
    );
    settled();
    await until("the fold waits for the settlement", async () =>
      (await sql`
        select from pg_stat_activity
         where datname = current_database() and query like '%ledger_fold_month%'
           and wait_event_type = 'Lock' and pid <> pg_backend_pid()`).length > 0);
  });
  await isSettled;
  const [{ archived, obstacle }] = await Promise.all([sweepStorage(archives.deps), late]);
  assert.deepEqual(archived, []);
  assert.equal(obstacle, "2026-01: Rows of the month changed after they were written");
  assert.deepEqual(await foldedRows(history), before);
  await ledger.mustBeSound();
  const usage = async () => {
    const days = await usageDays(sql, { account, from: "2026-01-01" });
    return days.reduce((sum, { charged }) => sum + Number(charged), 0);
  };
  const [balance, charged] = [await ledger.balance(), await usage()];
  await ledger.setClock("2026-05-10T12:01:00Z");
  assert.deepEqual((await archives.sweep()).archived, ["2026-01"]);
  await ledger.mustBeSound();
  assert.deepEqual([await ledger.balance(), await usage()], [balance, charged]);
});
