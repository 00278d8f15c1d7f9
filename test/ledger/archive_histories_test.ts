/**
 * Random histories over several months, archived month by month: totals equal what the rows said, and balances, usage
 * and statements are the same as before.
 *
 * `PROPERTY_SEED` and `PROPERTY_PATH`, as printed with a failure, play one again. `PROPERTY_RUNS` plays more.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { addCredit, adjustBalance } from "../../src/domain/ledger/credit.ts";
import { exportCsv } from "../../src/domain/ledger/export_csv.ts";
import type { OpenHold } from "../../src/domain/ledger/hold.ts";
import { usageDays } from "../../src/domain/ledger/usage_days.ts";
import { newId, timeOfId } from "../../src/lib/ids.ts";
import { decimal } from "../../src/lib/money.ts";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import { verifyArchives } from "../../src/workflows/retention/verify_archives.ts";
import { openArchives } from "../helpers/archives.ts";
import { asking, costing, openLedger, type TestLedger } from "../helpers/open_ledger.ts";
import { propertyRuns } from "../helpers/property_runs.ts";

const START = Date.parse("2026-01-25T00:00:00Z");
/** After every history. What is booked then is not archived. */
const END = "2026-09-01T00:00:00Z";
const AFTERWARDS = "2026-09-02T00:00:00Z";
/** With two months kept. */
const LAST_ARCHIVED = "2026-06";

/** What happens next. Steps that need a request take one that is open. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("hold" as const), units: fc.nat(40) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("settle" as const), cents: fc.nat(300) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("credit" as const),
      cents: fc.integer({ min: 1, max: 500 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("adjust" as const),
      cents: fc.integer({ min: -50, max: 50 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("plan" as const),
      plan: fc.constantFrom("pro", "team", "free"),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
/** Hours until the step: within a day, over a night, over weeks. */
const history = fc.array(fc.tuple(fc.constantFrom(0, 1, 8, 60, 90), step), {
  minLength: 15,
  maxLength: 40,
});

const euros = (cents: number) => (cents / 100).toFixed(2);

async function play(ledger: TestLedger, steps: [hours: number, step: Step][]): Promise<void> {
  const { sql } = ledger;
  const accounts = [ledger.account, await ledger.newAccount("3")];
  await addCredit(sql, { account: accounts[0]!, kind: "cash", amount: "20", reference: "start" });
  await ledger.gift("2", "2026-02-10T00:00:00Z", accounts[1]!);
  const open: OpenHold[] = [];
  let now = START;
  for (const [n, [hours, step]] of steps.entries()) {
    now += hours * 3_600_000 + 1;
    await ledger.setClock(new Date(now).toISOString());
    const account = accounts[n % 2]!;
    if (step.do === "hold") {
      // A node's clock may be a little fast.
      const id = newId("req", now + (n % 3) * 1000);
      const asked = asking({
        id,
        account,
        amount: "1",
        units: step.units,
        kind: "text",
        ttlSeconds: 3600,
      });
      const hold = await ledger.hold({ ...asked, beyondHold: n % 2 === 0 }).catch(() => null);
      if (hold !== null) open.push(hold.keep());
    } else if (step.do === "settle") {
      await open.shift()?.settle(costing(euros(step.cents), 20, { input_tokens: step.cents }));
    } else if (step.do === "release") await open.shift()?.release();
    else if (step.do === "sweep") await ledger.sweep();
    else if (step.do === "credit") {
      await addCredit(sql, {
        account,
        kind: "cash",
        amount: euros(step.cents),
        reference: `c${n}`,
      });
    } else if (step.do === "adjust" && step.cents !== 0) {
      const change = { account, amount: euros(step.cents), reference: `a${n}`, reason: "test" };
      await adjustBalance(sql, change).catch(() => {});
    } else if (step.do === "plan") await ledger.setPlan(step.plan, undefined, account);
  }
  await ledger.setClock(END);
  await ledger.sweep();
}

const monthName = (moment: Date | number) => new Date(moment).toISOString().slice(0, 7);

function add(sums: Record<string, bigint>, name: string, amount: bigint): void {
  sums[name] = (sums[name] ?? 0n) + amount;
}

/** The totals that rows come to, by what they are grouped by. */
async function sumRows({ sql }: TestLedger): Promise<Record<string, bigint>> {
  const sums: Record<string, bigint> = {};
  const isArchived = (moment: Date | number) => monthName(moment) <= LAST_ARCHIVED;
  const receipts = await sql`select * from final_receipt`;
  for (const row of receipts.filter(({ id }) => isArchived(timeOfId(id)!))) {
    const group = `${monthName(timeOfId(row.id)!)} ${row.account_id} ${row.model} ${row.upstream}`;
    add(sums, `receipts ${group}`, 1n);
    add(sums, `settled ${group}`, row.state === "settled" ? 1n : 0n);
    add(sums, `shortfall ${group}`, decimal(row.shortfall));
    for (const [at, bucket] of row.allocations.entries()) {
      add(sums, `${bucket.split(":")[0]} ${group}`, decimal(row.taken[at]));
    }
    add(sums, `tokens ${group}`, BigInt(row.usage?.input_tokens ?? 0));
  }
  const transfers = await sql`select * from transfer`;
  for (const row of transfers.filter(({ created_at }) => isArchived(created_at))) {
    const group = [
      monthName(row.created_at),
      row.account_id,
      row.unit,
      row.debit,
      row.credit,
      row.kind,
    ].join(" ");
    add(sums, `transfers ${group}`, 1n);
    add(sums, `amount ${group}`, decimal(row.amount));
  }
  return sums;
}

/** The same from the tables of totals. */
async function readTotals({ sql }: TestLedger): Promise<Record<string, bigint>> {
  const sums: Record<string, bigint> = {};
  for (const row of await sql`select *, to_char(month, 'YYYY-MM') as name from receipt_total`) {
    const group = `${row.name} ${row.account_id} ${row.model} ${row.upstream}`;
    add(sums, `receipts ${group}`, BigInt(row.receipts));
    add(sums, `settled ${group}`, BigInt(row.settled));
    add(sums, `shortfall ${group}`, decimal(row.shortfall));
    add(sums, `cash ${group}`, decimal(row.cash));
    add(sums, `gift ${group}`, decimal(row.gift));
    add(sums, `quota ${group}`, decimal(row.quota));
    add(sums, `tokens ${group}`, BigInt(row.input_tokens));
  }
  for (const row of await sql`select *, to_char(month, 'YYYY-MM') as name from transfer_total`) {
    const group = [row.name, row.account_id, row.unit, row.debit, row.credit, row.kind].join(" ");
    add(sums, `transfers ${group}`, BigInt(row.transfers));
    add(sums, `amount ${group}`, decimal(row.amount));
  }
  return sums;
}

const withoutZeros = (sums: Record<string, bigint>) =>
  Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n).sort());

/** What customers see, with the days of each month together. */
async function visible(ledger: TestLedger): Promise<Record<string, unknown>> {
  const { sql } = ledger;
  const seen: Record<string, unknown> = {};
  for (const { id } of await sql`select id from account order by id`) {
    const statement: Record<string, bigint> = {};
    const lines = (await Array.fromAsync(exportCsv(sql, { account: id }))).join("").trim().split(
      "\r\n",
    );
    for (const line of lines.slice(1)) {
      const [time, , kind, unit, amount, source] = line.split(",");
      add(statement, `${time!.slice(0, 7)} ${kind} ${unit} ${source}`, decimal(amount!));
    }
    const usage: Record<string, bigint> = {};
    for (const day of await usageDays(sql, { account: id, from: "2026-01-01" })) {
      add(usage, `${day.day.slice(0, 7)} calls`, BigInt(day.calls + day.failed));
      add(usage, `${day.day.slice(0, 7)} charged`, decimal(day.charged));
    }
    seen[id] = { balance: await ledger.balance(id), statement: withoutZeros(statement), usage };
  }
  return seen;
}

Deno.test("archived months have the totals of their rows, and change nothing that customers see", async () => {
  const runs = propertyRuns(8);
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      await using ledger = await openLedger({ clock: new Date(START).toISOString() });
      await using archives = await openArchives(ledger);
      await play(ledger, steps);
      await createMissingPartitions(ledger.sql, { isStart: true });
      await ledger.mustBeSound();
      const [rows, before] = [await sumRows(ledger), await visible(ledger)];
      // A month at a time, so that receipts and transfers of one batch are on both sides in between.
      await ledger.setClock(AFTERWARDS);
      for (const months of [7, 6, 5, 4, 3, 2]) {
        archives.keep.moneyMonths = months;
        const { obstacle } = await archives.sweep();
        assert.equal(obstacle, null);
        await ledger.mustBeSound();
      }
      assert.deepEqual(withoutZeros(await readTotals(ledger)), withoutZeros(rows));
      assert.deepEqual(await visible(ledger), before);
      const check = await verifyArchives(archives.deps);
      assert.ok(check.ok, check.detail);
    }),
    { ...runs, endOnFailure: true },
  );
});
