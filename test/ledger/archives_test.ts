import assert from "node:assert/strict";
import { createKey, findKey } from "../../src/domain/accounts/api_keys.ts";
import { Stores } from "../../src/domain/files/stores.ts";
import { addCredit, adjustBalance } from "../../src/domain/ledger/credit.ts";
import { exportCsv } from "../../src/domain/ledger/export_csv.ts";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { rollUpUsage, usageDays } from "../../src/domain/ledger/usage_days.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { newId } from "../../src/lib/ids.ts";
import { readCsv } from "../../src/lib/csv.ts";
import { decimal, trimDecimal } from "../../src/lib/money.ts";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import { checkMonth, listArchiveFiles } from "../../src/workflows/retention/check_archive.ts";
import { sweepStorage } from "../../src/workflows/retention/sweep_storage.ts";
import { NOW, openHistory, type TestHistory } from "../helpers/archived_history.ts";
import { Crash, openArchives } from "../helpers/archives.ts";
import { filesIn } from "../helpers/file_gateway.ts";
import { asking, costing, openLedger, type TestLedger } from "../helpers/open_ledger.ts";

/** What must be the same whether months are rows or totals. */
async function sums({ sql, account, ledger }: TestHistory) {
  const lines = (await Array.fromAsync(exportCsv(sql, { account }))).join("").trim().split("\r\n");
  const perSource: Record<string, bigint> = {};
  for (const [, , , unit, amount, source] of lines.slice(1).map((line) => line.split(","))) {
    if (source === "") continue;
    perSource[`${source} ${unit}`] = (perSource[`${source} ${unit}`] ?? 0n) + decimal(amount!);
  }
  const [totals] = await sql`
    select sum(amount) filter (where 'revenue' in (debit, credit)) as revenue from booking`;
  return { perSource, balance: await ledger.balance(), revenue: totals!.revenue };
}

/** Sums the days of a month, so that they can be compared with the one row of an archived month. */
async function monthlyUsage({ sql, account }: TestHistory) {
  const months: Record<string, [number, number, bigint, number]> = {};
  for (const day of await usageDays(sql, { account, from: "2026-01-01" })) {
    const sum = months[day.day.slice(0, 7)] ??= [0, 0, 0n, 0];
    sum[0] += day.calls;
    sum[1] += day.failed;
    sum[2] += decimal(day.charged);
    sum[3] += day.input_tokens;
  }
  return months;
}

const partitionsOf = async ({ sql }: TestLedger) =>
  (await sql<{ name: string }[]>`
    select relname as name from pg_class
     where relname ~ '^(receipt|transfer)_2026' and relkind = 'r' order by 1`).map(({ name }) =>
    name
  );

Deno.test("a month that is over its time becomes totals and files, and nothing that counts changes", async () => {
  await using history = await openHistory();
  const { ledger, archives, sql } = history;
  const before = { ...await sums(history), usage: await monthlyUsage(history) };
  assert.deepEqual(await archives.sweep(), {
    dropped: [],
    archived: ["2026-01"],
    tasks: 0,
    obstacle: null,
  });
  assert.deepEqual((await partitionsOf(ledger)).filter((name) => /2026_01/.test(name)), []);
  assert.equal((await sql`select from receipt_correction`).length, 0);
  assert.equal((await sql`select from receipt_part`).length, 0);
  assert.deepEqual(
    (await sql`
      select upstream, trim_scale(cash + gift) as charged, trim_scale(cost) as cost, uncosted
        from receipt_total where upstream is not null order by upstream`).map((total) =>
      Object.values(total).map(String)
    ),
    [["openai/gpt", "0.25", "0.125", "0"], ["runway/gen", "1", "0", "1"]],
  );
  assert.deepEqual({ ...await sums(history), usage: await monthlyUsage(history) }, before);
  await ledger.mustBeSound();
  const files = await listArchiveFiles(sql);
  assert.deepEqual(files.map(({ table_name, rows }) => [table_name, rows]), [
    ["receipt", "3"],
    ["receipt_correction", "1"],
    ["receipt_part", "3"],
    ["transfer", (await sql`select sum(transfers) as n from transfer_total`)[0]!.n],
  ]);
  assert.deepEqual(await checkMonth(archives.deps.stores, files), []);
  // Another month later February follows, and what was left over of January is gone.
  assert.ok((await sql`select from archive_remainder`).length > 0);
  await ledger.setClock("2026-06-10T12:00:00Z");
  const inMay = { ...await sums(history), usage: await monthlyUsage(history) };
  assert.deepEqual((await archives.sweep()).archived, ["2026-02"]);
  assert.deepEqual({ ...await sums(history), usage: await monthlyUsage(history) }, inMay);
  assert.equal((await sql`select from archive_remainder`).length, 0);
  await ledger.mustBeSound();
});

Deno.test("killed after any step, an archive is completed by the next sweep, once and without leftovers", async () => {
  const steps = [
    "claimed",
    "written receipt",
    "written receipt_correction",
    "written receipt_part",
    "written transfer",
    "checked",
    "folded",
  ];
  for (const step of steps) {
    await using history = await openHistory();
    const { ledger, archives } = history;
    const before = await monthlyUsage(history);
    const { balance, perSource, revenue } = await sums(history);
    await assert.rejects(archives.sweep(step), Crash, step);
    await ledger.mustBeSound();
    assert.deepEqual((await sums(history)).perSource, perSource, step);
    const { archived } = await archives.sweep();
    assert.deepEqual(archived, step === "folded" ? [] : ["2026-01"], step);
    await ledger.mustBeSound();
    assert.deepEqual(await monthlyUsage(history), before, step);
    const after = await sums(history);
    assert.deepEqual([after.balance, after.perSource, after.revenue], [
      balance,
      perSource,
      revenue,
    ]);
    const stored = await listArchiveFiles(ledger.sql);
    assert.deepEqual(await checkMonth(archives.deps.stores, stored), []);
    assert.equal((await filesIn(archives.folder)).length, 4, `${step}: no file is left over`);
  }
});

Deno.test("a file that a crash left half written is replaced", async () => {
  await using history = await openHistory();
  const { archives, sql } = history;
  await assert.rejects(archives.sweep("claimed"), Crash);
  const store = archives.deps.stores.named("local");
  await store.put("half", ReadableStream.from([new Uint8Array(3)]));
  await sql`
    insert into archive_file (month, table_name, store, key) values ('2026-01-01', 'receipt', 'local', 'half')`;
  assert.deepEqual((await archives.sweep()).archived, ["2026-01"]);
  assert.equal((await filesIn(archives.folder)).length, 4);
});

/** A bucket that keeps objects in memory. */
function serveBucket() {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === "PUT") objects.set(pathname, await request.bytes());
    if (request.method !== "GET") return new Response();
    const object = objects.get(pathname);
    return object === undefined ? new Response(null, { status: 404 }) : new Response(object);
  });
  return { objects, server, endpoint: `http://127.0.0.1:${server.addr.port}` };
}

Deno.test("archives go where files go, also to a bucket", async () => {
  await using history = await openHistory();
  const { archives, ledger, sql } = history;
  const { objects, server, endpoint } = serveBucket();
  await using _server = server;
  const s3 = { endpoint, region: "eu-central-1", bucket: "b", pathStyle: true, prefix: "gate/" };
  const bucket = { ...s3, accessKeyId: "k", secretAccessKey: "s" };
  const storage = { ...archives.deps.config().storage, files: "s3" as const, s3: bucket };
  const stores = new Stores(archives.folder, () => storage);
  await rollUpUsage(sql);
  const { archived } = await sweepStorage({ ...archives.deps, stores });
  assert.deepEqual(archived, ["2026-01"]);
  assert.deepEqual([...objects.keys()].sort(), [
    "/b/gate/archive-2026-01-receipt-1.csv.gz",
    "/b/gate/archive-2026-01-receipt_correction-1.csv.gz",
    "/b/gate/archive-2026-01-receipt_part-1.csv.gz",
    "/b/gate/archive-2026-01-transfer-1.csv.gz",
  ]);
  assert.deepEqual(await checkMonth(stores, await listArchiveFiles(sql)), []);
  assert.deepEqual(await filesIn(archives.folder), []);
  await ledger.mustBeSound();
});

Deno.test("rows that change after they were written are written again", async () => {
  await using history = await openHistory();
  const { archives, ledger, sql } = history;
  await assert.rejects(archives.sweep("checked"), Crash);
  await sql`
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at)
    values ('late', 'money', 'topup', ${`cash:${history.account}`}, 1, ${history.account}, 'credit', '2026-01-31')`;
  await sql`update balance_bucket set remaining = remaining + 1 where source = 'cash'`;
  const { archived, obstacle } = await archives.sweep();
  assert.deepEqual(archived, []);
  assert.match(obstacle!, /changed after they were written/);
  assert.deepEqual((await archives.sweep()).archived, ["2026-01"]);
  await ledger.mustBeSound();
});

Deno.test("nothing is archived while a request of the month is under way, or when the ledger is not sound", async () => {
  await using history = await openHistory();
  const { archives, ledger, sql } = history;
  const id = newId("req", Date.parse("2026-01-20T00:00:00Z"));
  const hold = await ledger.hold(asking({ id, account: ledger.account, amount: "1" }));
  assert.equal((await archives.sweep()).obstacle, `2026-01: request ${id} is under way`);
  await hold.release();
  assert.equal((await archives.sweep()).obstacle, "2026-01: its usage is not summed yet");
  await ledger.setClock("2026-05-10T12:01:00Z");
  await sql`update balance_bucket set remaining = remaining + 1 where source = 'cash'`;
  const { archived, obstacle } = await archives.sweep();
  assert.deepEqual(archived, []);
  assert.match(obstacle!, /every balance equals its transfers/);
  assert.equal((await partitionsOf(ledger)).includes("receipt_2026_01"), true);
});

Deno.test("the files have the rows as they were, any text in them included", async () => {
  await using history = await openHistory();
  const { archives, sql } = history;
  const texts =
    "id, unit, debit, credit, trim_scale(amount)::text as amount, kind, reference, reason";
  const inJanuary = "from transfer where created_at < '2026-02-01Z' order by id collate \"C\"";
  const before = await sql.unsafe<{ id: string }[]>(`select ${texts} ${inJanuary}`);
  await archives.sweep();
  const { key } = (await listArchiveFiles(sql)).find(({ table_name }) =>
    table_name === "transfer"
  )!;
  const bytes = await archives.deps.stores.named("local").get(key);
  const text = bytes.pipeThrough(new DecompressionStream("gzip")).pipeThrough(
    new TextDecoderStream(),
  );
  const [columns, ...lines] = await Array.fromAsync(readCsv(text));
  const rows = lines.map((line) => {
    const row = Object.fromEntries(columns!.map((name, at) => [name, line[at]]));
    const { id, unit, debit, credit, amount, kind, reference, reason } = row;
    return { id, unit, debit, credit, amount: trimDecimal(amount!, 0), kind, reference, reason };
  });
  const byId = (all: readonly { id?: string | null }[]) =>
    Object.fromEntries(all.map((row) => [row.id, { ...row }]));
  assert.deepEqual(byId(rows), byId([...before]));
  assert.ok(rows.some(({ reason }) => reason === 'a, "b"\nc'));
});

Deno.test("requests are charged while a month is archived", async () => {
  await using history = await openHistory();
  const { archives, ledger, account } = history;
  const { cash_balance: before } = await ledger.balance();
  const chargeNow = async () => {
    const id = newId("req", Date.parse(NOW));
    await (await ledger.hold(asking({ id, account, amount: "0.02" }))).settle(costing("0.01"));
  };
  const charging = (async () => {
    for (let n = 0; n < 20; n++) await Promise.all([chargeNow(), chargeNow()]);
  })();
  const [{ archived }] = await Promise.all([archives.sweep(), charging]);
  assert.deepEqual(archived, ["2026-01"]);
  const { cash_balance: after } = await ledger.balance();
  assert.equal(decimal(before) - decimal(after), decimal("0.40"));
  await ledger.mustBeSound();
});

Deno.test("two nodes at once archive a month once", async () => {
  await using history = await openHistory();
  const { archives, ledger } = history;
  await archives.sweep();
  const deps = { ...archives.deps, leaseSeconds: 600 };
  await ledger.setClock("2026-06-10T12:00:00Z");
  const swept = await Promise.all([sweepStorage(deps), sweepStorage(deps)]);
  assert.deepEqual(swept.flatMap(({ archived }) => archived), ["2026-02"]);
  await ledger.mustBeSound();
});

Deno.test("a reference of an archived month is not booked again", async () => {
  await using history = await openHistory();
  const { archives, ledger, sql, account } = history;
  await archives.sweep();
  const { available_balance } = await ledger.balance();
  const credit = { account, kind: "cash", amount: "50", reference: "first" } as const;
  assert.equal((await addCredit(sql, credit)).isFirst, false);
  await assert.rejects(addCredit(sql, { ...credit, amount: "51" }));
  const gift = { account, kind: "gift", amount: "5", reference: "gift 1" } as const;
  assert.equal(
    (await addCredit(sql, { ...gift, expiresAt: new Date("2026-02-10T00:00:00Z") })).isFirst,
    false,
  );
  await adjustBalance(sql, { account, amount: "-1", reference: "fee", reason: "again" });
  assert.equal((await ledger.balance()).available_balance, available_balance);
  await ledger.mustBeSound();
});

/** A compressed file with one line less. */
function withoutLastLine(): ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const unpacked = new DecompressionStream("gzip");
  async function* cut() {
    const text = await new Response(unpacked.readable).text();
    yield new TextEncoder().encode(text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1));
  }
  return {
    writable: unpacked.writable,
    readable: ReadableStream.from(cut()).pipeThrough(new CompressionStream("gzip")),
  };
}

Deno.test("ledger verify finds totals that are not those of the archive, and a file that was changed", async () => {
  await using history = await openHistory();
  const { archives, ledger, sql } = history;
  await archives.sweep();
  const files = await listArchiveFiles(sql);
  const { key } = files.find(({ table_name }) => table_name === "transfer")!;
  const store = archives.deps.stores.named("local");
  const bytes = await new Response(await store.get(key)).bytes();
  await store.put(key, ReadableStream.from([bytes.subarray(0, bytes.length / 2)]));
  assert.match(
    (await checkMonth(archives.deps.stores, files)).join(),
    /transfer.* cannot be read: /,
  );
  await store.put(key, ReadableStream.from([bytes]).pipeThrough(withoutLastLine()));
  const wrong = await checkMonth(archives.deps.stores, files);
  assert.match(wrong.join(), /another hash.*rows, .* are recorded.*sums to/);
  await sql`update receipt_total set receipts = receipts + 1 where model = 'sim-chat'`;
  const { checks } = await verifyLedger(ledger.sql);
  const failed = checks.filter(({ ok }) => !ok);
  assert.deepEqual(failed.map(({ name, detail }) => [name, detail]), [
    ["totals of archived months equal their archives", "1 of 1 are wrong: 2026-01"],
  ]);
  await sql`update transfer_total set amount = amount + 1 where kind = 'credit'`;
  const { checks: again } = await verifyLedger(ledger.sql);
  const names = again.filter(({ ok }) => !ok).map(({ name }) => name);
  assert.ok(names.includes("every balance equals its transfers"), names.join());
});

Deno.test("a receipt of an archived month is gone from the table, and later ones are there", async () => {
  await using history = await openHistory();
  const { archives, sql, account, january, may } = history;
  const before = await findReceipt(sql, account, january, "EUR");
  assert.equal(before!.settled, "1.75");
  await archives.sweep();
  assert.equal(await findReceipt(sql, account, january, "EUR"), null);
  assert.equal((await findReceipt(sql, account, may, "EUR"))!.settled, "1.00");
});

Deno.test("what a key spent stays when months are archived, also of a request at the edge of a month", async () => {
  await using ledger = await openLedger({ cash: "50", clock: "2026-01-05T00:00:00Z" });
  await using archives = await openArchives(ledger);
  const { sql, account } = ledger;
  const { id: key } = await createKey(sql, account, "budgeted", {
    budget: { amount: "3", period: "total" },
  });
  const charge = async (sent: string, accepted = sent) => {
    await ledger.setClock(accepted);
    const asked = asking({ id: newId("req", Date.parse(sent)), account, amount: "1" });
    const origin = { key, user: null, metadata: null };
    await (await ledger.hold({ ...asked, origin })).settle(costing("1"));
  };
  await charge("2026-01-10T00:00:00Z");
  await charge("2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00Z");
  await charge("2026-02-20T00:00:00Z");
  await createMissingPartitions(sql, { isStart: true });
  for (const [now, month] of [[NOW, "2026-01"], ["2026-06-10T12:00:00Z", "2026-02"]]) {
    await ledger.setClock(now!);
    assert.deepEqual((await archives.sweep()).archived, [month]);
    assert.equal((await findKey(sql, key)).spend.amount, "3.00");
    await ledger.mustBeSound();
    await assert.rejects(charge(now!), { code: "key_budget_exceeded" });
  }
  assert.equal((await sql`select from archive_remainder`).length, 0);
});
