import assert from "node:assert/strict";
import { join } from "node:path";
import { type Item, runItem, runItems } from "../../src/domain/ledger/item.ts";
import { openLedger } from "../../src/domain/ledger/ledger.ts";
import { writeJournalSync } from "../../src/domain/ledger/settlement_journal.ts";
import { idPrefixAt, newId } from "../../src/lib/ids.ts";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import { NOW, openHistory, type TestHistory } from "../helpers/archived_history.ts";
import { until } from "../helpers/chat_gateway.ts";
import { recordLog } from "../helpers/logs.ts";

const JANUARY = "2026-01-20T00:00:00Z";
const FEBRUARY = "2026-02-20T00:00:00Z";

const requestAt = (moment: string) => newId("req", Date.parse(moment));

/** The charge of a request that has drawn, as a node writes it to its disk. */
function chargeOf({ account }: TestHistory, id: string, begunAt: string): Item {
  return {
    ...{ op: "charge", id, account_id: account, scale: 6, request_id: id, model: "sim-chat" },
    ...{ kind: "text", beyond_hold: true, amount: "2", max_units: "0", begun_at: begunAt },
    ...{ num: "3", den: "1", units: "0", usage: { input_tokens: 1 } },
    price: { model: "sim-chat" } as unknown as NonNullable<Item["price"]>,
  };
}

/** What a node has reserved of the account's cash, so that charges can be booked at once. */
async function reserve({ sql, account }: TestHistory): Promise<Partial<Item>> {
  const [id, bucket] = [newId("rsv"), `cash:${account}`];
  await sql`
    insert into reserve (id, account_id, node_id, renewal, allocations, held, drawn, lease_ms, expires_at)
    values (${id}, ${account}, 'node_1', 1, array[${bucket}], array[10], array[0], 60000, '2100-01-01')`;
  await sql`update balance_bucket set frozen = frozen + 10 where id = ${bucket}`;
  return { reserve_id: id, allocations: [bucket], held: ["5"], is_told: false };
}

const cashOf = async ({ ledger }: TestHistory) => (await ledger.balance()).cash_balance;

Deno.test("a charge whose journal is found after its month was archived is not booked again, and its file is kept", async () => {
  await using history = await openHistory();
  const { ledger, archives, sql } = history;
  const item = chargeOf(history, requestAt(JANUARY), JANUARY);
  // The statement was committed, and its answer lost.
  const folder = join(archives.folder, "settlements");
  writeJournalSync(folder, [item]);
  await ledger.setClock("2026-01-20T00:00:01Z");
  assert.equal((await runItem(sql, item)).outcome, "resolved");
  await ledger.setClock(NOW);
  assert.deepEqual((await archives.sweep()).archived, ["2026-01"]);
  const before = await cashOf(history);
  const logged: string[] = [];
  const again = openLedger({
    database: ledger.database,
    money: () => ({ currency: "EUR", currencyScale: 6 }),
    onExceeded() {},
    onOrphanedHold() {},
    pending: { folder, log: recordLog((_, message) => logged.push(message)) },
  });
  again.pending.replay();
  await until("the journal is replayed", () => again.pending.size === 0);
  await again.pending[Symbol.asyncDispose]();
  assert.equal(await cashOf(history), before);
  assert.equal((await sql`select from receipt where id = ${item.id}`).length, 0);
  assert.ok(logged.includes("settlement failed, the last checkpoint counts"), logged.join());
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  assert.match(names.join(), /^settlements-[^,]*\.jsonl\.failed$/);
  await createMissingPartitions(sql, { isStart: true });
  await ledger.mustBeSound();
  assert.equal((await archives.sweep()).obstacle, null);
});

Deno.test("a charge of an archived month is unknown also among charges that are booked at once", async () => {
  await using history = await openHistory();
  const { ledger, archives, sql } = history;
  await archives.sweep();
  const drawn = await reserve(history);
  const before = Number(await cashOf(history));
  const charges = [requestAt(JANUARY), requestAt("2026-01-31T23:59:59.999Z"), requestAt(NOW)]
    .map((id): Item => ({ ...chargeOf(history, id, NOW), ...drawn }));
  for (const charge of charges.slice(0, 2)) {
    assert.equal((await runItem(sql, charge)).outcome, "unknown");
  }
  const outcomes = await runItems(sql, charges);
  const byItem = outcomes.toSorted((a, b) => a.n - b.n).map(({ outcome }) => outcome);
  assert.deepEqual(byItem, ["unknown", "unknown", "resolved"]);
  assert.equal(Number(await cashOf(history)), before - 3);
  assert.equal((await runItem(sql, charges[2]!)).outcome, "already");
  await ledger.mustBeSound();
});

Deno.test("a charge of a month that is not archived is booked however late it comes, and one whose id has no time", async () => {
  await using history = await openHistory();
  const { ledger, archives, sql } = history;
  await archives.sweep();
  const before = Number(await cashOf(history));
  const ids = [idPrefixAt("req", Date.parse("2026-02-01T00:00:00Z")), requestAt(FEBRUARY), "req_x"];
  for (const id of ids) {
    const item = chargeOf(history, id, FEBRUARY);
    assert.equal((await runItem(sql, item)).outcome, "resolved");
    assert.equal((await runItem(sql, item)).outcome, "already");
  }
  assert.equal(Number(await cashOf(history)), before - 9);
  await ledger.mustBeSound();
});

Deno.test("a charge that waits while its month is archived is unknown", async () => {
  await using history = await openHistory();
  const { ledger, sql } = history;
  const before = await cashOf(history);
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
  const archiving = sql.begin(async (tx) => {
    await tx`lock table only receipt in access exclusive mode`;
    await tx`insert into archive_month (month, archived_at) values ('2026-01-01', now())`;
    locked();
    await until("the charge waits", async () =>
      (await sql`
        select from pg_stat_activity
         where datname = current_database() and query like '%from ledger_run(%'
           and wait_event_type = 'Lock' and pid <> pg_backend_pid()`).length > 0);
  });
  await isLocked;
  const [{ outcome }] = await Promise.all([
    runItem(sql, chargeOf(history, requestAt(JANUARY), JANUARY)),
    archiving,
  ]);
  assert.equal(outcome, "unknown");
  assert.equal(await cashOf(history), before);
  await sql`delete from archive_month`;
  await ledger.mustBeSound();
});

Deno.test("the time of an id is told to within thirteen days", async () => {
  await using history = await openHistory();
  const { sql } = history;
  const [row] = await sql`
    select count(*)::int as seen,
           bool_and(ledger_time_of(ledger_id_at(moment)) between moment - interval '13 days' and moment) as is_right
      from generate_series('2020-01-01'::timestamptz, '2120-01-01', interval '1 day 7 hours 13.1 seconds') moment`;
  assert.deepEqual([row!.seen > 20_000, row!.is_right], [true, true]);
  for (const id of ["", "req_", "req_x", "req_zzzzzzzzzz", "acc_1/2"]) {
    assert.ok((await sql`select ledger_time_of(${id}) as moment`)[0]!.moment instanceof Date);
  }
});
