import assert from "node:assert/strict";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import { openLedger } from "../../src/domain/ledger/ledger.ts";
import { rollUpUsage } from "../../src/domain/ledger/usage_days.ts";
import { newId } from "../../src/lib/ids.ts";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import type { StorageOverview } from "../../src/workflows/retention/describe_storage.ts";
import { filesIn } from "../helpers/file_gateway.ts";
import { ADMIN_TOKEN, errorOf, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";
import { asking, costing, installClock } from "../helpers/open_ledger.ts";
import { runCli } from "../helpers/run_cli.ts";

const CONFIG = await Deno.readTextFile(new URL("../helpers/config.yaml", import.meta.url));

/** A gateway that keeps four months of money, with one request of January 2026 and one of today. */
async function openWithHistory() {
  const gateway = await openGateway({
    config: `${CONFIG}\nstorage: { keep: { money_months: 4 } }\n`,
  });
  const { database } = gateway.gateway;
  const { account } = gateway;
  const { sql } = database;
  const ledger = openLedger({
    database,
    money: () => ({ currency: "EUR", currencyScale: 6 }),
    onExceeded() {},
    onOrphanedHold() {},
  });
  await installClock(sql, "2026-01-10T12:00:00Z");
  await addCredit(sql, { account, kind: "cash", amount: "10", reference: "first" });
  const charge = async (amount: string) => {
    const [{ now }] = await sql<[{ now: Date }]>`select ledger_now() as now`;
    const id = newId("req", now.getTime());
    await (await ledger.hold(asking({ id, account, amount: "2" }))).settle(costing(amount));
    return id;
  };
  const old = await charge("1.25");
  await sql`update test_clock set now = clock_timestamp()`;
  const young = await charge("0.50");
  await createMissingPartitions(sql, { isStart: true });
  await sql`update test_clock set now = clock_timestamp() + interval '10 seconds'`;
  await rollUpUsage(sql);
  return { ...gateway, old, young, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

const storageOf = async (gateway: TestGateway): Promise<StorageOverview> =>
  await (await gateway.admin("GET", "/storage")).json();

const statementOf = async (gateway: TestGateway, query = "") => {
  const res = await gateway.get(`/v1/usage${query}`, { accept: "text/csv" });
  return (await res.text()).trim().split("\r\n").slice(1);
};

Deno.test("storage of months that are over their time", async (t) => {
  await using gateway = await openWithHistory();
  const { old, young } = gateway;

  await t.step("GET /admin/v1/storage 200 says what is archived and dropped when", async () => {
    const { tables, archives } = await storageOf(gateway);
    assert.deepEqual(archives, []);
    const receipts = tables.find(({ name }) => name === "receipt")!;
    const january = receipts.partitions.find(({ name }) => name === "receipt_2026_01")!;
    assert.deepEqual([january.next, january.due_at], ["archive", "2026-06-01T00:00:00.000Z"]);
    assert.ok(january.bytes > 0);
    assert.ok(receipts.bytes >= january.bytes);
    const requests = tables.find(({ name }) => name === "request")!;
    assert.ok(requests.partitions.every(({ next }) => next === "drop"));
    assert.deepEqual(tables.find(({ name }) => name === "account")!.partitions, []);
  });

  await t.step(
    "gateway storage sweep --dry-run shows what is due, and changes nothing",
    async () => {
      const { code, out } = await cli(gateway, ["storage", "sweep", "--dry-run"]);
      assert.equal(code, 0);
      assert.match(out, /receipt_2026_01 +(\d+|unknown) .*archive +2026-06-01T00:00:00\.000Z/);
      assert.match(out, /transfer_2026_01/);
      assert.equal(await statusOf(gateway.get(`/v1/usage/${old}`)), 200);
      const all = await (await gateway.get("/v1/usage")).json();
      assert.equal(all.archived_before, null);
      assert.deepEqual(all.data.map(({ id }: { id: string }) => id), [young, old]);
    },
  );

  const before = await (await gateway.get("/v1/balance")).json();
  await t.step("POST /admin/v1/storage/sweep 200 archives the month", async () => {
    const res = await gateway.admin("POST", "/storage/sweep");
    assert.equal(res.status, 200);
    const { object, archived, obstacle } = await res.json();
    assert.deepEqual([object, archived, obstacle], ["storage_sweep", ["2026-01"], null]);
    const { archives } = await storageOf(gateway);
    assert.deepEqual(archives.map(({ month, files }) => [month, files.map(({ rows }) => rows)]), [
      ["2026-01", [1, 0, 0, 2]],
    ]);
    assert.match(gateway.logged(), /"month archived"/);
  });

  await t.step("GET /v1/usage/{request_id} 404 says that the receipt is archived", async () => {
    const archived = await gateway.get(`/v1/usage/${old}`);
    assert.equal(archived.status, 404);
    const error = await errorOf(archived);
    assert.equal(
      error.message,
      "Receipts before 2026-02-01 are archived: the statement has totals of their months.",
    );
    const other = await errorOf(await gateway.get(`/v1/usage/${newId("req")}`));
    assert.equal(other.message, "No receipt found for this request id.");
    const list = await (await gateway.get("/v1/usage")).json();
    assert.equal(list.archived_before, "2026-02-01T00:00:00.000Z");
    assert.deepEqual(list.data.map(({ id }: { id: string }) => id), [young]);
  });

  await t.step("the statement has totals of the month, and the balance is the same", async () => {
    const [charged, credited, ...later] = await statementOf(gateway);
    assert.match(
      charged!,
      /^2026-01-31T23:59:59.999Z,total:2026-01:capture:money:cash,capture,money,-1.25,cash,,,"total of 1, archived",,+$/,
    );
    // As many columns as any other line: the comma of its text is in quotes.
    assert.equal(charged!.split(",").length - 1, later[0]!.split(",").length);
    assert.match(
      credited!,
      /^2026-01-31T23:59:59.999Z,total:2026-01:credit:money:cash,credit,money,10.00,cash,/,
    );
    assert.equal(later.length, 1);
    assert.equal((await statementOf(gateway, "?from=2026-01-02T00:00:00Z")).length, 1);
    assert.equal((await statementOf(gateway, "?to=2026-02-01T00:00:00Z")).length, 2);
    assert.deepEqual(await (await gateway.get("/v1/balance")).json(), before);
  });

  await t.step("sums of the month are 400, and margins have its figures", async () => {
    const sums = await gateway.get("/v1/usage?group_by=model&from=2026-01-01T00:00:00Z");
    assert.equal(sums.status, 400);
    assert.match((await errorOf(sums)).message, /Receipts before 2026-02-01 are archived/);
    const usage = await cli(gateway, ["usage", "--from", "2026-01-01T00:00:00Z"]);
    assert.notEqual(usage.code, 0);
    const margins = await cli(gateway, [
      ...["margins", "--by", "month,account", "--from", "2026-01-01"],
    ]);
    assert.match(margins.out, new RegExp(`2026-01 +${gateway.account} +1 +1\\.25 `));
  });

  await t.step("gateway ledger verify passes, and --archives reads the files", async () => {
    assert.equal((await cli(gateway, ["ledger", "verify"])).code, 0);
    const sound = await cli(gateway, ["ledger", "verify", "--archives"]);
    assert.equal(sound.code, 0, sound.out);
    assert.match(sound.out, /ok +archives have the rows that were written +4 checked/);
    const [file] = (await filesIn(gateway.store.dataDir)).filter((path) => /-transfer-/.test(path));
    await Deno.remove(file!);
    const damaged = await cli(gateway, ["ledger", "verify", "--archives"]);
    assert.equal(damaged.code, 1);
    assert.match(
      damaged.out,
      /FAILED +archives have .*archive-2026-01-transfer-1\.csv\.gz cannot be read/,
    );
    assert.equal((await cli(gateway, ["ledger", "verify"])).code, 0, "the totals are as they were");
    assert.equal(await statusOf(gateway.admin("GET", "/ledger/verify?archives=maybe")), 400);
  });

  await t.step(
    "gateway storage list shows the archive, and sweep has nothing more to do",
    async () => {
      const list = await cli(gateway, ["storage", "list", "--table", "transfer"]);
      assert.match(list.out, /2026-01 +.*archive-2026-01-receipt-1\.csv\.gz \(1 rows, /);
      assert.doesNotMatch(list.out, /transfer_2026_01/);
      const swept = await cli(gateway, ["storage", "sweep"]);
      assert.match(swept.out, /^Dropped: nothing\.\nArchived: nothing\.\nTasks deleted: 0\./);
    },
  );
});

const cli = (gateway: TestGateway, args: string[]) =>
  runCli(args, { GATEWAY_URL: gateway.address, ADMIN_TOKEN });

Deno.test("gateway storage list estimates rows: at once, after an analyze, and unknown where it cannot", async () => {
  await using gateway = await openGateway();
  const { sql } = gateway.gateway.database;
  await sql`create table transfer_2020_01 partition of transfer
    for values from ('2020-01-01T00:00:00Z') to ('2020-02-01T00:00:00Z')`;
  const rowsOf = async () => {
    const { tables } = await storageOf(gateway);
    const { rows, partitions } = tables.find(({ name }) => name === "transfer")!;
    return [rows, partitions.find(({ name }) => name === "transfer_2020_01")!.rows];
  };
  const listed = async () => {
    const { out } = await cli(gateway, ["storage", "list", "--table", "transfer"]);
    return /transfer_2020_01 +(\S+)/.exec(out)![1];
  };
  const write = (from: number, to: number) =>
    sql.begin(async (tx) => {
      await tx`
        insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at)
        select 't' || n, 'money', 'topup', 'cash:a', 1, 'a', 'credit', '2020-01-05' from generate_series(
          ${from}::int, ${to}::int) n`;
      // Counters of a session are shown after a second otherwise.
      await tx`select pg_stat_force_next_flush()`;
    });
  assert.equal((await rowsOf())[1], 0, "an empty table needs no estimate");
  const [before] = await rowsOf();
  await write(1, 40);
  assert.deepEqual([(await rowsOf())[1], await listed()], [40, "40"]);
  await write(41, 2000);
  await sql`analyze transfer_2020_01`;
  await write(2001, 4000);
  const [all, part] = await rowsOf();
  assert.ok(part! > 3600 && part! < 4400, `by pages: ${part}`);
  assert.equal(all! - part!, before);
  await sql`update pg_class set reltuples = -1, relpages = 0 where relname = 'transfer_2020_01'`;
  await sql`select pg_stat_reset_single_table_counters('transfer_2020_01'::regclass)`;
  assert.deepEqual([await rowsOf(), await listed()], [[null, null], "unknown"]);
});

Deno.test("a sweep removes tasks that ended long ago with their subtasks, and no others", async () => {
  await using gateway = await openGateway();
  const { sql } = gateway.gateway.database;
  const day = 86_400_000;
  const add = async (days: number, isOver = true, parent: string | null = null) => {
    const at = new Date(Date.now() - days * day);
    const id = newId("task", at.getTime());
    await sql`
      insert into task (id, account_id, request_id, type, model, status, job, config_version, created_at,
                        completed_at, wake_at, deadline_at, deadline_seconds, parent_id, subtask)
      values (${id}, ${gateway.account}, ${id}, 'image', 'm', ${
      isOver ? "failed" : "running"
    }, '{}', 'v', ${at},
              ${isOver ? at : null}, ${
      isOver ? null : new Date(Date.now() + day)
    }, ${at}, 60, ${parent},
              ${parent === null ? null : "script"})`;
    return id;
  };
  const drama = await add(91);
  await add(91, true, drama);
  await add(200);
  const kept = [await add(89), await add(100, false)];
  const res = await gateway.admin("POST", "/storage/sweep");
  assert.equal((await res.json()).tasks, 3);
  const rows = await sql`select id from task order by id`;
  assert.deepEqual(rows.map(({ id }) => id), kept.sort());
});
