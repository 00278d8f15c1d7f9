import assert from "node:assert/strict";
import { newId } from "../../src/lib/ids.ts";
import { fraction } from "../../src/lib/money.ts";
import { listMargins, type MarginGroup, partlyArchived } from "../../src/domain/ledger/margins.ts";
import { rollUpUsage } from "../../src/domain/ledger/usage_days.ts";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import { openArchives } from "../helpers/archives.ts";
import { asking, costing, openLedger, type TestLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-10T12:00:00Z";

interface Served {
  at?: string;
  account?: string;
  model?: string;
  price?: string;
  upstream?: string | null;
  cost?: string | null;
  held?: string;
}

/** A request that was charged. */
async function serve(ledger: TestLedger, served: Served): Promise<string> {
  const { at = START, account = ledger.account, model = "sim-chat", price = "1" } = served;
  const { upstream = "house/one", cost = null, held = "5" } = served;
  await ledger.setClock(at);
  const id = newId("req", Date.parse(at));
  const asked = asking({ id, account, amount: held });
  const hold = await ledger.hold({ ...asked, quote: { ...asked.quote, model } });
  const attribution = { upstream, cost: cost === null ? null : fraction(cost) };
  await hold.settle({ ...costing(price), served: attribution });
  return id;
}

async function margins(ledger: TestLedger, groupBy: readonly MarginGroup[], from = "2026-01-01") {
  return (await listMargins(ledger.sql, { groupBy, from })).data;
}

Deno.test(
  "margins are the same by any group, before and after usage is summed",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: START });
    const other = await ledger.newAccount("50");
    await ledger.setPlan("pro", undefined, other);
    await serve(ledger, { price: "2", cost: "0.5" });
    await serve(ledger, { price: "1", cost: "1.5", upstream: "away/two" });
    await serve(ledger, { account: other, price: "4", cost: "1", model: "big" });
    await serve(ledger, { account: other, price: "3", cost: "1", at: "2026-02-01T00:00:00Z" });
    const expected: [MarginGroup, string, string[]][] = [
      ["model", "big", ["4.00", "1.00", "3.00", "75.0"]],
      ["model", "sim-chat", ["6.00", "3.00", "3.00", "50.0"]],
      ["provider", "away", ["1.00", "1.50", "-0.50", "-50.0"]],
      ["provider", "house", ["9.00", "2.50", "6.50", "72.2"]],
      ["upstream_model", "one", ["9.00", "2.50", "6.50", "72.2"]],
      ["upstream_model", "two", ["1.00", "1.50", "-0.50", "-50.0"]],
      ["plan", "free", ["3.00", "2.00", "1.00", "33.3"]],
      ["plan", "pro", ["7.00", "2.00", "5.00", "71.4"]],
      ["month", "2026-01", ["7.00", "3.00", "4.00", "57.1"]],
      ["month", "2026-02", ["3.00", "1.00", "2.00", "66.6"]],
      ["day", "2026-01-10", ["7.00", "3.00", "4.00", "57.1"]],
      ["day", "2026-02-01", ["3.00", "1.00", "2.00", "66.6"]],
    ];
    const groups = [...new Set(expected.map(([group]) => group))];
    const seen = async () => {
      const all = await Promise.all(
        groups.map(async (group) =>
          (await margins(ledger, [group])).map((row) => [
            group,
            row[group],
            [row.revenue, row.cost, row.margin, row.margin_percent],
          ])
        ),
      );
      return all.flat();
    };
    assert.deepEqual(await seen(), expected);
    const byAccount = await margins(ledger, ["account"]);
    assert.deepEqual(
      Object.fromEntries(byAccount.map((row) => [row.account, row.margin])),
      { [ledger.account]: "1.00", [other]: "5.00" },
    );
    await ledger.setClock("2026-02-02T00:00:00Z");
    await rollUpUsage(ledger.sql);
    assert.deepEqual(await seen(), expected);

    const { data, totals } = await listMargins(ledger.sql, {
      groupBy: ["month", "model"],
      from: "2026-01-01",
      to: "2026-02-01",
      provider: "house",
    });
    assert.deepEqual(data.map(({ month, model, revenue }) => [month, model, revenue]), [
      ["2026-01", "big", "4.00"],
      ["2026-01", "sim-chat", "2.00"],
    ]);
    assert.deepEqual([totals.requests, totals.revenue, totals.margin], [2, "6.00", "4.50"]);
  },
);

Deno.test(
  "a request counts for the plan that its account was on when it was accepted",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: START });
    for (const [day, plan] of [["11", "pro"], ["12", "team"], ["13", "free"]]) {
      await serve(ledger, { cost: "0", at: `2026-01-${day}T00:00:00Z` });
      await ledger.setClock(`2026-01-${day}T12:00:00Z`);
      await ledger.setPlan(plan!);
    }
    await serve(ledger, { cost: "0", at: "2026-01-14T00:00:00Z" });
    const lines = (await margins(ledger, ["day", "plan"])).map(({ day, plan }) => `${day} ${plan}`);
    assert.deepEqual(lines, [
      "2026-01-11 free",
      "2026-01-12 pro",
      "2026-01-13 team",
      "2026-01-14 free",
    ]);
  },
);

Deno.test(
  "a cost that is not known is not zero: the margin leaves out what it is for",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: START });
    await serve(ledger, { price: "2", cost: "0.5" });
    await serve(ledger, { price: "1" });
    await serve(ledger, { price: "1", model: "dark" });
    await serve(ledger, { price: "0", model: "free", cost: "0" });
    const [dark, free, mixed] = await margins(ledger, ["model"]);
    assert.deepEqual(
      [dark!.cost, dark!.margin, dark!.margin_percent, dark!.uncosted, dark!.uncosted_revenue],
      [null, null, null, 1, "1.00"],
    );
    assert.deepEqual([free!.cost, free!.margin, free!.margin_percent, free!.uncosted], [
      ...["0.00", "0.00", null],
      0,
    ]);
    assert.deepEqual([mixed!.revenue, mixed!.cost, mixed!.uncosted, mixed!.uncosted_revenue], [
      ...["3.00", "0.50"],
      1,
      "1.00",
    ]);
    assert.deepEqual([mixed!.margin, mixed!.margin_percent], ["1.50", "75.0"]);
  },
);

Deno.test(
  "a request that was charged less than its price is counted with what is missing",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: START });
    await serve(ledger, { price: "1", cost: "0.5" });
    await serve(ledger, { price: "3", held: "2", cost: "0.5" });
    const [row] = await margins(ledger, ["model"]);
    assert.deepEqual([row!.requests, row!.capped, row!.shortfall, row!.revenue], [
      ...[2, 1],
      ...["1.00", "3.00"],
    ]);
  },
);

/** A drama of three parts and a fee, which was charged `charged` of its price of 10. */
async function serveDrama(ledger: TestLedger, charged: string): Promise<void> {
  const id = await serve(ledger, { model: "play", price: charged, upstream: null, held: "10" });
  await ledger.sql`
    insert into receipt_part (receipt_id, position, stage, model, upstream, amount, cost)
    select ${id}, * from (values
      (1, 'script', 'talk', 'house/one', 1, 0.25), (2, 'video', 'video-model', 'away/two', 3, 1),
      (3, 'video', 'video-model', 'away/two', 3, null), (4, 'drama', 'play', null, 3, 0)) p`;
}

Deno.test(
  "a drama's revenue and cost are split over the providers of its parts",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: START });
    await serveDrama(ledger, "10");
    await serveDrama(ledger, "10");
    const figures = async () =>
      (await margins(ledger, ["model", "provider"])).map((row) => [
        ...[row.model, row.provider, row.requests, row.revenue, row.cost, row.uncosted, row.margin],
      ]);
    const expected = [
      ["play", "away", 0, "12.00", "2.00", 2, "4.00"],
      ["play", "house", 0, "2.00", "0.50", 0, "1.50"],
      ["play", null, 2, "6.00", "0.00", 0, "6.00"],
    ];
    assert.deepEqual(await figures(), expected);
    await ledger.setClock("2026-01-11T12:00:00Z");
    await rollUpUsage(ledger.sql);
    assert.deepEqual(await figures(), expected);
    const [whole] = await margins(ledger, ["model"]);
    assert.deepEqual([whole!.requests, whole!.revenue, whole!.cost, whole!.uncosted_revenue], [
      ...[2, "20.00", "2.50", "6.00"],
    ]);
  },
);

Deno.test(
  "what a drama was charged is split without a rest, also where it is less than its price",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: START });
    await serveDrama(ledger, "0.000001");
    await serveDrama(ledger, "7.777777");
    const rows = await margins(ledger, ["provider"]);
    assert.deepEqual(rows.map(({ provider, revenue }) => [provider, revenue]), [
      ["away", "4.6666668"],
      ["house", "0.7777778"],
      [null, "2.3333334"],
    ]);
    const { totals } = await listMargins(ledger.sql, { groupBy: ["provider"], from: "2026-01-01" });
    assert.equal(totals.revenue, "7.777778");
  },
);

Deno.test(
  "archived months keep their margins by every group, and days of them are one",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: START });
    await using archives = await openArchives(ledger);
    await serve(ledger, { price: "2", cost: "0.5" });
    await serve(ledger, { price: "1", at: "2026-01-20T00:00:00Z" });
    await serveDrama(ledger, "10");
    await serve(ledger, { price: "1", cost: "0.5", at: "2026-05-01T00:00:00Z" });
    const groups = ["month", "model", "provider", "account", "plan"] as const;
    const before = await margins(ledger, groups);
    assert.equal(before.length, 5);
    await ledger.setClock("2026-05-10T00:00:00Z");
    await createMissingPartitions(ledger.sql, { isStart: true });
    assert.deepEqual((await archives.sweep()).archived, ["2026-01"]);
    assert.equal((await ledger.sql`select from receipt`).length, 1);
    assert.deepEqual(await margins(ledger, groups), before);
    assert.deepEqual((await margins(ledger, ["day"])).map(({ day }) => day), [
      "2026-01-01",
      "2026-05-01",
    ]);
    const partly = (from: string, to?: string) => partlyArchived(ledger.sql, { from, to });
    assert.deepEqual(await partly("2026-01-01", "2026-02-01"), []);
    assert.deepEqual(await partly("2026-01-02"), ["2026-01"]);
    assert.deepEqual(await partly("2025-12-01", "2026-01-31"), ["2026-01"]);
    assert.equal((await margins(ledger, ["day"], "2026-01-02")).length, 1);
    await ledger.mustBeSound();
  },
);
