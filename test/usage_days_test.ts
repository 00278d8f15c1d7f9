import assert from "node:assert/strict";
import { idPrefixAt, newId } from "../src/lib/ids.ts";
import { decimal, fraction } from "../src/lib/money.ts";
import {
  rollUpUsage,
  usageChart,
  type UsageDay,
  usageDays,
} from "../src/domain/ledger/usage_days.ts";
import type { Usage } from "../src/model_types/usage.ts";
import { asking, costing, openLedger, type TestLedger } from "./helpers/open_ledger.ts";
import { settleIn } from "./helpers/ledger_in.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const FROM = "2026-03-01";

/** Uses the ledger as a request would, and leaves it resolved. */
async function request(
  ledger: TestLedger,
  amount: string | null,
  usage: Usage = {},
  cost: string | null = null,
): Promise<void> {
  const hold = await ledger.hold(
    asking({ id: newId("req"), account: ledger.account, amount: "1" }),
  );
  if (amount === null) return void await hold.release();
  const served = { upstream: "house/one", cost: cost === null ? null : fraction(cost) };
  await hold.settle({ ...costing(amount, 0, usage), served });
}

const short = ({ day, model, calls, failed, charged, cost, uncosted }: UsageDay) => [
  day,
  model,
  calls,
  failed,
  charged,
  cost,
  uncosted,
];

Deno.test("usage by day is the same before, during and after the roll-up", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100", clock: "2026-03-01T23:59:00Z" });
  const { sql, account } = ledger;
  const seen = async () => (await usageDays(sql, { account, from: FROM })).map(short);
  await request(ledger, "0.25", { input_tokens: 10, output_tokens: 5 }, "0.10");
  await request(ledger, "0.50", { input_tokens: 1 });
  await request(ledger, null);
  await ledger.setClock("2026-03-02T00:00:01Z");
  await request(ledger, "0.125", { seconds: "2.5" }, "0.000000000001");
  const expected = [
    ["2026-03-01", "sim-chat", 2, 1, "0.75", "0.10", 1],
    ["2026-03-02", "sim-chat", 1, 0, "0.125", "0.000000000001", 0],
  ];
  assert.deepEqual(await seen(), expected, "nothing is added up yet");
  const tail = await usageChart(sql, account, FROM);
  assert.equal(tail.reduce((sum, { charged }) => sum + charged, 0n), decimal("0.875"));

  // The last request is younger than what may be added up: it stays in the tail.
  await rollUpUsage(sql, 1);
  assert.equal((await sql`select distinct day from usage_day`).length, 1);
  assert.deepEqual(await seen(), expected, "half is");

  await ledger.setClock("2026-03-02T01:00:00Z");
  await rollUpUsage(sql);
  assert.equal((await sql`select distinct day from usage_day`).length, 2);
  assert.deepEqual(await seen(), expected, "all is");
  await rollUpUsage(sql);
  assert.deepEqual(await seen(), expected, "adding up again adds nothing");

  const points = await usageChart(sql, account, FROM);
  const total = points.reduce((sum, { charged }) => sum + charged, 0n);
  assert.equal(total, decimal("0.875"));
  assert.equal(points.reduce((sum, { calls }) => sum + calls, 0), 3);
  const [first, second] = await usageDays(sql, { account, from: FROM });
  assert.deepEqual([first!.input_tokens, first!.output_tokens], [11, 5]);
  assert.equal(second!.seconds, "2.5");
});

Deno.test("many requests with the same time are added together, and once", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100", clock: "2026-03-01T12:00:00Z" });
  const { sql, account } = ledger;
  await Promise.all(Array.from({ length: 40 }, () => request(ledger, "0.01")));
  await ledger.setClock("2026-03-01T12:00:01Z");
  await Promise.all(Array.from({ length: 3 }, () => request(ledger, "0.01")));
  await ledger.setClock("2026-03-01T13:00:00Z");
  await rollUpUsage(sql, 7);
  const [row] = await sql`select calls, charged from usage_day`;
  assert.deepEqual([row!.calls, row!.charged], ["43", "0.430000000000"]);
  const [shown] = await usageDays(sql, { account, from: FROM });
  assert.equal(shown!.calls, 43);
});

Deno.test(
  "requests that began long ago are shown as soon as they are resolved",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: "2026-03-01T12:00:00Z" });
    const { sql, account } = ledger;
    const begin = async (time: string, ttlSeconds: number) => {
      const id = newId("req", Date.parse(time));
      return (await ledger.hold(asking({ id, account, amount: "1", ttlSeconds }))).keep();
    };
    const counts = async () => {
      const points = await usageChart(sql, account, FROM);
      const days = await usageDays(sql, { account, from: FROM });
      const sums = [points, days].map((lines) => lines.reduce((sum, { calls }) => sum + calls, 0));
      assert.equal(sums[0], sums[1]);
      return sums[0];
    };
    const rollUpAt = async (time: string) => {
      await ledger.setClock(time);
      await ledger.sweep();
      await rollUpUsage(sql);
      return (await sql<[{ oldest_id: string }]>`select oldest_id from usage_watermark`)[0]
        .oldest_id;
    };
    const swept = await begin("2026-01-05T00:00:00Z", 60);
    const long = await begin("2026-01-06T00:00:00Z", 86_400);
    assert.equal(await rollUpAt("2026-03-01T12:30:00Z"), swept.id, "it was released just now");
    assert.equal(await rollUpAt("2026-03-01T13:00:00Z"), long.id, "it is under way");
    await long.settle(costing("0.25"));
    assert.equal(await counts(), 1, "what was under way is settled");
    assert.equal(await rollUpAt("2026-03-01T13:00:04Z"), long.id, "it is not in the sums yet");
    assert.equal(await counts(), 1);

    const recent = idPrefixAt("req", Date.parse("2026-02-28T13:59:55Z"));
    assert.equal(
      await rollUpAt("2026-03-01T14:00:00Z"),
      recent,
      "nothing is left but what may come",
    );
    await swept.settle(costing("0.25"));
    assert.equal(await counts(), 2, "what a sweeper had released is settled late");
  },
);

Deno.test("a settlement that is not committed yet is not skipped", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100" });
  const { sql, database, account } = ledger;
  if (database.kind === "embedded") return; // one connection: nothing is ever half done beside it
  const today = new Date().toISOString().slice(0, 10);
  const hold = await ledger.hold(asking({ account, amount: "1" }));
  const [begun, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const finishing = sql.begin(async (tx) => {
    await settleIn(tx, hold.id, costing("0.75"));
    begun.resolve();
    await late.promise;
  });
  await begun.promise;
  // A minute goes by.
  await sql.unsafe(`
    create or replace function ledger_now() returns timestamptz language sql volatile
    as 'select clock_timestamp() + interval ''1 minute'''`);
  await rollUpUsage(sql);
  late.resolve();
  await finishing;
  await rollUpUsage(sql);
  const days = await usageDays(sql, { account, from: today });
  assert.deepEqual(days.map(({ calls, charged }) => [calls, charged]), [[1, "0.75"]]);
});

Deno.test(
  "an account sees its own usage only; an operator that of all accounts",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: "2026-03-01T12:00:00Z" });
    const other = await ledger.newAccount("5");
    await request(ledger, "0.50");
    const hold = await ledger.hold(asking({ account: other, amount: "1" }));
    await hold.settle(costing("0.25"));
    const charged = async (account?: string) =>
      (await usageDays(ledger.sql, { account, from: FROM })).map(({ charged }) => charged).sort();
    assert.deepEqual(await charged(other), ["0.25"]);
    assert.deepEqual(await charged(), ["0.25", "0.50"]);
  },
);

Deno.test("a stream settled by its checkpoint keeps its upstream and cost", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100", clock: "2026-03-01T12:00:00Z" });
  const hold = await ledger.hold(asking({ id: "req_1", account: ledger.account, amount: "1" }));
  await hold.keep().checkpoint({
    ...costing("0.5"),
    served: { upstream: "house/one", cost: fraction("0.2") },
  });
  await ledger.setClock("2026-03-01T13:00:00Z");
  await ledger.sweep();
  const [row] = await ledger.sql`select state, upstream, cost from receipt where id = 'req_1'`;
  assert.deepEqual({ ...row }, { state: "settled", upstream: "house/one", cost: "0.200000000000" });
});
