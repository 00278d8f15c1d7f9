import assert from "node:assert/strict";
import { createKey, findKey, updateKey } from "../../src/domain/accounts/api_keys.ts";
import type { BudgetPeriod } from "../../src/domain/accounts/key_restrictions.ts";
import { type Hold, holdItem } from "../../src/domain/ledger/hold.ts";
import { runItems, runLate } from "../../src/domain/ledger/item.ts";
import { settleItem } from "../../src/domain/ledger/settle.ts";
import type { Queries } from "../../src/platform/database/database.ts";
import { asking, costing, openLedger, type TestLedger } from "../helpers/open_ledger.ts";
import { openReserveNodes } from "../helpers/reserve_nodes.ts";

const NOT_COVERED = { code: "key_budget_exceeded", kind: "insufficient_funds" };

async function newKey(
  sql: Queries,
  account: string,
  amount: string,
  period: BudgetPeriod = "total",
): Promise<string> {
  const { id } = await createKey(sql, account, "budgeted", { budget: { amount, period } });
  return id;
}

const originOf = (key: string) => ({ key, user: null, metadata: null });

function holdFor({ hold, account }: TestLedger, key: string, amount: string): Promise<Hold> {
  return hold({ ...asking({ account, amount }), origin: originOf(key) });
}

async function spendOf(sql: Queries, key: string): Promise<[spent: string, held: string]> {
  const { spend } = await findKey(sql, key);
  return [spend.amount, spend.held];
}

Deno.test("a hold counts against the budget of its key; a settlement and a release give back the rest", async () => {
  await using ledger = await openLedger({ cash: "100" });
  const { sql, account } = ledger;
  const key = await newKey(sql, account, "1");
  const first = await holdFor(ledger, key, "0.6");
  assert.deepEqual(await spendOf(sql, key), ["0.00", "0.60"]);
  await assert.rejects(holdFor(ledger, key, "0.400001"), {
    ...NOT_COVERED,
    message:
      "The budget of this API key does not cover this request, which may cost up to 0.400001 EUR: 0.40 EUR is " +
      "left. GET /v1/key shows the budget and when it renews.",
  });
  const second = await holdFor(ledger, key, "0.4");
  await first.settle(costing("0.25"));
  assert.deepEqual(await spendOf(sql, key), ["0.25", "0.40"]);
  await second.release();
  assert.deepEqual(await spendOf(sql, key), ["0.25", "0.00"]);
  await using _ = await holdFor(ledger, key, "0.75");
  await assert.rejects(holdFor(ledger, key, "0.000001"), NOT_COVERED);
  await using _free = await holdFor(ledger, key, "0");
  await using _other = await holdFor(ledger, await newKey(sql, account, "5"), "5");
  await ledger.mustBeSound();
});

Deno.test("within one batch, what is given back is free for the next hold, and what is held is not", async () => {
  await using ledger = await openLedger({ cash: "100" });
  const { sql, account } = ledger;
  const key = await newKey(sql, account, "1");
  const { id } = (await holdFor(ledger, key, "0.9")).keep();
  const hold = (amount: string) =>
    holdItem({ ...asking({ account, amount }), origin: originOf(key) }, 6);
  const outcomes = await runItems(sql, [
    hold("0.2"),
    settleItem(id, costing("0.3"), account),
    hold("0.5"),
    hold("0.3"),
    hold("0.2"),
  ]);
  assert.deepEqual(outcomes.toSorted((a, b) => a.n - b.n).map(({ outcome }) => outcome), [
    "over_budget",
    "resolved",
    "held",
    "over_budget",
    "held",
  ]);
  assert.deepEqual(await spendOf(sql, key), ["0.30", "0.70"]);
  await ledger.mustBeSound();
});

Deno.test("what quota pays for does not count against a budget", async () => {
  await using ledger = await openLedger({ cash: "10" });
  const { sql, account } = ledger;
  await ledger.setPlan("pro");
  const key = await newKey(sql, account, "0.5");
  const asked = asking({ account, amount: "3", units: 100, kind: "text" });
  const hold = await ledger.hold({ ...asked, origin: originOf(key) });
  assert.deepEqual(await spendOf(sql, key), ["0.00", "0.00"]);
  const { quota } = await hold.settle(costing("3", 100));
  assert.equal(quota, 100n);
  assert.deepEqual(await spendOf(sql, key), ["0.00", "0.00"]);
  await ledger.mustBeSound();
});

const EDGES: [period: BudgetPeriod, before: string, edge: string][] = [
  ["day", "2026-02-28T23:59:59.999Z", "2026-03-01T00:00:00Z"],
  ["week", "2026-03-01T23:59:59.999Z", "2026-03-02T00:00:00Z"],
  ["month", "2026-02-28T23:59:59.999Z", "2026-03-01T00:00:00Z"],
];

for (const [period, before, edge] of EDGES) {
  Deno.test(`a budget per ${period} renews at its edge (UTC), once; what was held before counts before`, async () => {
    await using ledger = await openLedger({ cash: "100", clock: before });
    const { sql, account } = ledger;
    const key = await newKey(sql, account, "1", period);
    const old = await holdFor(ledger, key, "0.7");
    const { spend } = await findKey(sql, key);
    assert.equal(spend.renews_at, new Date(edge).toISOString());
    await assert.rejects(holdFor(ledger, key, "0.4"), NOT_COVERED);

    await ledger.setClock(edge);
    assert.deepEqual(await spendOf(sql, key), ["0.00", "0.00"]);
    const now = await holdFor(ledger, key, "1");
    await old.settle(costing("0.7"));
    assert.deepEqual(
      await spendOf(sql, key),
      ["0.00", "1.00"],
      "the settlement counts before the edge",
    );
    await now.settle(costing("0.9"));
    await assert.rejects(holdFor(ledger, key, "0.2"), NOT_COVERED, "it has renewed once");
    assert.equal((await findKey(sql, key)).spend.since, new Date(edge).toISOString());
    await ledger.mustBeSound();
  });
}

Deno.test("a budget of another amount or period counts what was spent before it was set", async () => {
  await using ledger = await openLedger({ cash: "100", clock: "2026-03-10T12:00:00Z" });
  const { sql, account } = ledger;
  const { id: key } = await createKey(sql, account, "plain");
  const spend = async (amount: string) =>
    void await (await holdFor(ledger, key, amount)).settle(costing(amount));
  const budget = (amount: string, period: BudgetPeriod) =>
    updateKey({ sql, notify: () => Promise.resolve(), afterCommit() {} }, key, {
      budget: { amount, period },
    });
  await spend("3");
  await ledger.setClock("2026-03-11T12:00:00Z");
  await spend("2");
  assert.deepEqual((await budget("2.5", "day")).spend.amount, "2.00");
  await assert.rejects(spend("1"), NOT_COVERED);
  await spend("0.5");
  assert.deepEqual((await budget("6", "month")).spend.amount, "5.50");
  await assert.rejects(spend("1"), NOT_COVERED);
  await budget("7", "total");
  await spend("1.5");
  await assert.rejects(spend("0.1"), NOT_COVERED);
  await budget("1", "total");
  await assert.rejects(spend("0.000001"), { ...NOT_COVERED, message: /: 0\.00 EUR is left/ });
  await ledger.mustBeSound();
});

Deno.test("what a late settlement takes counts on the day of the request", async () => {
  await using ledger = await openLedger({ cash: "100", clock: "2026-03-10T23:59:00Z" });
  const { sql, account } = ledger;
  const key = await newKey(sql, account, "1", "day");
  const { id } = (await holdFor(ledger, key, "1")).keep();
  await ledger.setClock("2026-03-11T00:30:00Z");
  await ledger.sweep();
  const late = await runLate(sql, settleItem(id, costing("0.8"), account));
  assert.equal(late.outcome, "resolved");
  const rows = await sql`select day::text, trim_scale(amount)::text as amount from key_spend`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [{ day: "2026-03-10", amount: "0.8" }]);
  await ledger.mustBeSound();
});

Deno.test("old days become one row per month, and a total budget counts them", async () => {
  await using ledger = await openLedger({ cash: "100", clock: "2026-01-01T10:00:00Z" });
  const { sql, account } = ledger;
  const key = await newKey(sql, account, "7.5");
  const { id } = (await holdFor(ledger, key, "1")).keep();
  for (const day of ["01-01", "01-30", "01-31", "02-03", "03-01", "03-02"]) {
    await ledger.setClock(`2026-${day}T10:00:00Z`);
    await (await holdFor(ledger, key, "1")).settle(costing("1"));
  }
  await ledger.sweep();
  const rowsAfterFold = async () => {
    await sql`select key_spend_fold(ledger_now())`;
    const rows = await sql`
      select day::text, trim_scale(amount)::text as amount from key_spend order by day`;
    return rows.map(({ day, amount }) => `${day}: ${amount}`);
  };
  const later = ["2026-02-03: 1", "2026-03-01: 1", "2026-03-02: 1"];
  assert.deepEqual(await rowsAfterFold(), ["2026-01-01: 3", ...later]);
  await ledger.mustBeSound();
  await runLate(sql, settleItem(id, costing("1"), account));
  assert.deepEqual(await rowsAfterFold(), ["2026-01-01: 4", ...later]);
  assert.deepEqual(await spendOf(sql, key), ["7.00", "0.00"]);
  await assert.rejects(holdFor(ledger, key, "0.6"), NOT_COVERED);
  await ledger.mustBeSound();
});

Deno.test("ledger verify finds a key whose spend is not that of its receipts", async () => {
  await using ledger = await openLedger({ cash: "100" });
  const { sql, account } = ledger;
  const key = await newKey(sql, account, "10");
  await (await holdFor(ledger, key, "1")).settle(costing("1"));
  await ledger.mustBeSound();
  await sql`update key_spend set amount = amount + 0.5`;
  await assert.rejects(
    ledger.mustBeSound(),
    /what every key spent equals its receipts: .* spent 1\.5 on/,
  );
});

Deno.test("a budget that is set while requests of its key draw from reserves counts them, on every node", async () => {
  await using nodes = await openReserveNodes(2);
  const { sql } = nodes;
  const account = await nodes.newAccount("1000");
  const { id: key } = await createKey(sql, account, "later budgeted");
  const ask = (at: number, mayDraw: boolean) =>
    nodes.nodes[at]!.ledger.hold({
      ...asking({ account, amount: "1", units: 100, kind: "text" }),
      origin: originOf(key),
      beyondHold: true,
      mayDraw,
    });
  for (const node of nodes.nodes) {
    for (let at = 0; at < 12; at++) await node.warm(account, "1");
  }
  const drawn = [await ask(0, true), await ask(0, true), await ask(1, true)];
  assert.equal(nodes.nodes.flatMap((node) => node.draws()).length, 3);
  assert.deepEqual(await spendOf(sql, key), ["0.00", "0.00"]);
  await sql`update api_key set budget_amount = 3, budget_period = 'total' where id = ${key}`;
  await nodes.nodes[1]!.ledger.keyChanged(key);
  // In the same statement as what was drawn, and with mayDraw as of before the change.
  const [, same] = await Promise.allSettled([
    nodes.nodes[0]!.ledger.keyChanged(key),
    ask(0, true),
  ]);
  assert.equal(same.status, "rejected");
  assert.equal(same.reason.code, NOT_COVERED.code);
  assert.deepEqual(await spendOf(sql, key), ["0.00", "3.00"]);
  for (const [at, hold] of drawn.entries()) {
    await assert.rejects(ask(at % 2, at === 0), NOT_COVERED);
    await hold.settle(costing("1", 100));
  }
  assert.deepEqual(await spendOf(sql, key), ["3.00", "0.00"]);
  await nodes.mustBeSound();
});

for (const count of [1, 3]) {
  Deno.test(`50 calls at once over ${count} nodes serve the 10 that the budget covers, while another key draws from reserves`, async () => {
    await using nodes = await openReserveNodes(count);
    const { sql } = nodes;
    const account = await nodes.newAccount("1000");
    const key = await newKey(sql, account, "10", "day");
    await Promise.all(nodes.nodes.map((node) => node.warm(account, "1")));
    const { id: other } = await createKey(sql, account, "without");
    const call = async (at: number, key: string, mayDraw: boolean) => {
      const asked = asking({ account, amount: "1", units: 100, kind: "text" });
      const { ledger } = nodes.nodes[at % count]!;
      const hold = await ledger.hold({
        ...asked,
        origin: originOf(key),
        mayDraw,
        beyondHold: true,
      });
      await hold.settle(costing("1", 100));
    };
    const missed = nodes.nodes.reduce((sum, node) => sum + node.missed, 0);
    const calls = Array.from({ length: 50 }, (_, at) => call(at, key, false));
    const draws = Array.from({ length: 50 }, (_, at) => call(at, other, true));
    const answers = await Promise.allSettled(calls);
    await Promise.all(draws);
    const refused = answers.flatMap((answer) => answer.status === "rejected" ? answer.reason : []);
    assert.equal(answers.length - refused.length, 10);
    for (const { code } of refused) assert.equal(code, NOT_COVERED.code);
    assert.ok(nodes.nodes.reduce((sum, node) => sum + node.missed, 0) < missed + 50, "some draw");
    assert.deepEqual(await spendOf(sql, key), ["10.00", "0.00"]);
    assert.deepEqual(await spendOf(sql, other), ["50.00", "0.00"]);
    await nodes.mustBeSound();
  });
}
