import assert from "node:assert/strict";
import { createKey } from "../../src/domain/accounts/api_keys.ts";
import type { RequestOrigin } from "../../src/domain/ledger/request_origin.ts";
import type { UsageFilter, UsageGroup } from "../../src/domain/ledger/usage_page.ts";
import { type GroupedUsage, UsageReports } from "../../src/domain/ledger/usage_report.ts";
import type { Usage } from "../../src/model_types/usage.ts";
import { asking, costing, openLedger, type TestLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-03-01T12:00:00Z";

interface Used {
  account?: string;
  model?: string;
  origin?: Partial<RequestOrigin>;
  usage?: Usage;
}

/** Charges a request at the time of the test's clock. */
async function spend(ledger: TestLedger, amount: string, used: Used = {}): Promise<string> {
  const asked = asking({ account: used.account ?? ledger.account, amount });
  const quote = { ...asked.quote, model: used.model ?? asked.quote.model };
  const origin = { key: null, user: null, metadata: null, ...used.origin };
  const hold = (await ledger.hold({ ...asked, quote, origin })).keep();
  await hold.settle(costing(amount, 0, used.usage));
  return asked.id;
}

const noFilters: ReadonlyMap<UsageFilter, string> = new Map();

async function read(
  { database }: TestLedger,
  groupBy: UsageGroup[],
  filters: [UsageFilter, string][] = [],
) {
  return await new UsageReports(database).read({ groupBy, filters: new Map(filters) });
}

/** What was charged, by the values of the groups. */
function charges(data: readonly GroupedUsage[], ...groups: UsageGroup[]) {
  return data.map((usage) => [...groups.map((group) => usage[group]), usage.charged]);
}

Deno.test("usage is summed by key, model, user, endpoint, metadata and day", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100", clock: START });
  const key = await createKey(ledger.sql, ledger.account, "batch jobs");
  const origin = { key: key.id, user: "ada", metadata: { team: "red" }, endpoint: "chat" };
  await spend(ledger, "1.25", { origin, usage: { input_tokens: 7, cached_input_tokens: 5 } });
  await ledger.setClock("2026-03-02T00:00:00Z");
  await spend(ledger, "0.000001", { origin: { ...origin, user: "bob", endpoint: "messages" } });
  await spend(ledger, "2", { model: "sim-image", usage: { images: 3, seconds: "1.5" } });

  const byKey = (await read(ledger, ["key"])).data;
  assert.deepEqual(charges(byKey, "key"), [[key.id, "1.250001"], [null, "2.00"]]);
  assert.deepEqual(byKey.map((usage) => usage.key_name), ["batch jobs", null]);
  const of = async (group: UsageGroup) => charges((await read(ledger, [group])).data, group);
  assert.deepEqual(await of("model"), [["sim-chat", "1.250001"], ["sim-image", "2.00"]]);
  assert.deepEqual(await of("user"), [["ada", "1.25"], ["bob", "0.000001"], [null, "2.00"]]);
  assert.deepEqual(await of("endpoint"), [["chat", "1.25"], ["messages", "0.000001"], [
    null,
    "2.00",
  ]]);
  assert.deepEqual(await of("metadata.team"), [["red", "1.250001"], [null, "2.00"]]);
  assert.deepEqual(await of("day"), [["2026-03-01", "1.25"], ["2026-03-02", "2.000001"]]);

  const { data, totals } = await read(ledger, ["model", "day"]);
  assert.deepEqual(charges(data, "model", "day"), [
    ["sim-chat", "2026-03-01", "1.25"],
    ["sim-chat", "2026-03-02", "0.000001"],
    ["sim-image", "2026-03-02", "2.00"],
  ]);
  const { requests, charged, input_tokens, cached_input_tokens, images, seconds } = totals;
  assert.deepEqual([requests, charged, images, seconds], [3, "3.250001", 3, "1.5"]);
  assert.deepEqual([input_tokens, cached_input_tokens], [7, 5]);
});

Deno.test("usage is filtered by each group, by period and by account", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100", clock: START });
  const other = await ledger.newAccount("10");
  await spend(ledger, "1", { origin: { user: "ada", metadata: { "team.a": "it's" } } });
  await spend(ledger, "2", { origin: { user: "bob", key: "key_1", endpoint: "chat" } });
  await spend(ledger, "4", { account: other, model: "sim-image" });
  const sum = async (...filters: [UsageFilter, string][]) =>
    (await read(ledger, ["account"], filters)).totals.charged;
  assert.equal(await sum(), "7.00");
  assert.equal(await sum(["account", other]), "4.00");
  assert.equal(await sum(["user", "ada"]), "1.00");
  assert.equal(await sum(["metadata.team.a", "it's"]), "1.00");
  assert.equal(await sum(["key", "key_1"], ["endpoint", "chat"]), "2.00");
  assert.equal(await sum(["model", "sim-image"], ["user", "ada"]), "0.00");

  await ledger.setClock("2026-04-02T00:00:00Z");
  await spend(ledger, "8");
  const reports = new UsageReports(ledger.database);
  const within = async (from?: string, to?: string) =>
    (await reports.read({
      groupBy: ["model"],
      filters: noFilters,
      from: from === undefined ? undefined : new Date(from),
      to: to === undefined ? undefined : new Date(to),
    })).totals.charged;
  assert.equal(await within(), "8.00"); // this month
  assert.equal(await within("2026-03-01"), "15.00");
  assert.equal(await within("2026-03-01", "2026-04-01"), "7.00");
  assert.equal(await within(START, START), "0.00");
});

Deno.test("usage that takes many pages is the same as in one", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100", clock: START });
  // Several at one moment: pages must be told apart by more than time.
  for (let n = 0; n < 7; n++) {
    await spend(ledger, `0.0${n + 1}`, { origin: { user: `u${n % 3}` } });
    if (n === 4) await ledger.setClock("2026-03-02T00:00:00Z");
  }
  const query = { groupBy: ["user", "day"] as UsageGroup[], filters: noFilters };
  const whole = await new UsageReports(ledger.database).read(query);
  assert.equal(whole.totals.charged, "0.28");
  for (const pageSize of [1, 2, 3, 7]) {
    assert.deepEqual(await new UsageReports(ledger.database, { pageSize }).read(query), whole);
  }
});

Deno.test("a corrected receipt counts once, in its corrected form", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  const hold = (await ledger.hold(asking({ account: ledger.account, amount: "2", ttlSeconds: 60 })))
    .keep();
  await hold.checkpoint(costing("0.5", 0, { output_tokens: 5 }));
  await ledger.setClock("2026-03-01T13:00:00Z");
  await ledger.sweep();
  await hold.settle(costing("1.5", 0, { output_tokens: 15 }));
  const { totals } = await read(ledger, ["model"]);
  assert.deepEqual([totals.requests, totals.charged, totals.output_tokens], [1, "1.50", 15]);
});

Deno.test("what failed, and what money could not pay, is counted apart", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  await ledger.gift("1");
  await using _released = await ledger.hold(asking({ account: ledger.account, amount: "1" }));
  await _released.keep().release();
  await spend(ledger, "3");
  const hold = await ledger.hold(asking({ account: ledger.account, amount: "2" }));
  await hold.keep().settle(costing("2.5"));
  const { requests, failed, charged, gift, shortfall, cost, uncosted } =
    (await read(ledger, ["model"])).totals;
  assert.deepEqual([requests, failed, charged, gift, shortfall], [2, 1, "5.00", "1.00", "0.50"]);
  assert.deepEqual([cost, uncosted], ["0.00", 2]);
});

Deno.test("a report with too many groups, or of too much, is refused", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  for (const user of ["a", "b", "c"]) await spend(ledger, "1", { origin: { user } });
  const query = { groupBy: ["user"] as UsageGroup[], filters: noFilters };
  await assert.rejects(
    new UsageReports(ledger.database, { groupsMax: 2 }).read(query),
    /more than 2 groups: choose a shorter period, filter, or group by less/,
  );
  await assert.rejects(
    new UsageReports(ledger.database, { timeMs: -1 }).read(query),
    /more requests than can be summed up/,
  );
  await assert.rejects(
    new UsageReports(ledger.database).read({ ...query, signal: AbortSignal.abort() }),
    { name: "AbortError" },
  );
});

Deno.test("a statement that takes too long is ended by the database", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  await spend(ledger, "1");
  await ledger.sql.unsafe(`
    alter table receipt_correction rename to hidden;
    create view receipt_correction as select h.* from hidden h, pg_sleep(5)`);
  const startedAt = performance.now();
  await assert.rejects(
    new UsageReports(ledger.database, { timeMs: 300 })
      .read({ groupBy: ["model"], filters: noFilters }),
    /more requests than can be summed up in 0.3 seconds/,
  );
  assert.ok(performance.now() - startedAt < 4_000);
});

Deno.test("reports at once read one page at a time", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  for (let n = 0; n < 6; n++) await spend(ledger, "1");
  let running = 0;
  let most = 0;
  const { sql } = ledger.database;
  const begin = async (mode: string, work: Parameters<typeof sql.begin>[1]) => {
    most = Math.max(most, ++running);
    return await sql.begin(mode, work).finally(() => running--);
  };
  const counted = new Proxy(sql, {
    get: (target, name) => name === "begin" ? begin : Reflect.get(target, name),
  });
  const reports = new UsageReports({ sql: counted }, { pageSize: 2 });
  const query = { groupBy: ["model"] as UsageGroup[], filters: noFilters };
  const all = await Promise.all(Array.from({ length: 5 }, () => reports.read(query)));
  assert.deepEqual(all.map(({ totals }) => totals.charged), Array(5).fill("6.00"));
  assert.equal(most, 1);
});

Deno.test(
  "archived months are refused by name, and later ones say what is archived",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: "2026-01-10T00:00:00Z" });
    await spend(ledger, "1");
    await ledger.setClock("2026-06-02T00:00:00Z");
    await spend(ledger, "2");
    await ledger.sql`insert into archive_month (month, archived_at) values ('2026-01-01', now())`;
    const reports = new UsageReports(ledger.database);
    const { totals, archivedBefore } = await reports
      .read({ groupBy: ["model"], filters: noFilters });
    assert.equal(totals.charged, "2.00");
    assert.deepEqual(archivedBefore, new Date("2026-02-01"));
    await assert.rejects(
      reports.read({ groupBy: ["model"], filters: noFilters, from: new Date("2026-01-01") }),
      /Receipts before 2026-02-01 are archived and cannot be grouped/,
    );
  },
);
