/**
 * Random histories of an account, played to the real ledger and to the model beside it. Whatever is
 * repeated, reordered, forgotten (as by a process that died) or overtaken by time: both agree on every
 * answer and every balance, and the ledger's own rules hold.
 *
 * `PROPERTY_SEED` and `PROPERTY_PATH`, as printed with a failure, play one again. `PROPERTY_RUNS` plays more:
 * .ci/run plays 1,000.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { commitChange } from "../../src/platform/cluster/change.ts";
import type { Sql, TransactionSql } from "postgres";
import { decimal, formatDecimal, type Fraction } from "../../src/lib/money.ts";
import { ApiError } from "../../src/lib/api_error.ts";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { readBalance } from "../../src/domain/ledger/balance.ts";
import { addCredit, adjustBalance } from "../../src/domain/ledger/credit.ts";
import { holdItem } from "../../src/domain/ledger/hold.ts";
import { runItems } from "../../src/domain/ledger/item.ts";
import { type Ledger, openLedger } from "../../src/domain/ledger/ledger.ts";
import { setPlan, storePlans } from "../../src/domain/ledger/plans.ts";
import type { Resolution } from "../../src/domain/ledger/settle.ts";
import { sweepLedger } from "../../src/domain/ledger/sweep.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import type { UsageKind } from "../../src/model_types/usage.ts";
import type { Cluster } from "../../src/platform/cluster/cluster.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { type Hold, LedgerModel, type Quotas } from "../helpers/ledger_model.ts";
import { asking, costing, installClock } from "../helpers/open_ledger.ts";
import { propertyRuns } from "../helpers/property_runs.ts";

const START = Date.parse("2026-01-31T12:00:00Z");
const PLANS: [string, Quotas][] = [
  ["free", { text: 100, image: 0, video: 0 }],
  ["pro", { text: 1000, image: 5, video: 30 }],
  ["team", { text: 50, image: 50, video: 0 }],
];

interface Real {
  sql: TransactionSql;
  database: Database;
  cluster: Cluster;
  ledger: Ledger;
  accounts: string[];
}

type Play = fc.AsyncCommand<LedgerModel, Real>;

/** A command of the model run; a counterexample prints its name and arguments. */
function play<T>(
  name: string,
  args: T,
  run: (model: LedgerModel, real: Real, args: T) => Promise<void>,
): Play {
  return {
    check: () => true,
    run: (model, real) => run(model, real, args),
    toString: () =>
      `${name} ${
        JSON.stringify(args, (_, value) => typeof value === "bigint" ? `${value}n` : value)
      }`,
  };
}

// Few accounts, ids and references, so that histories repeat and collide.
const account = fc.nat({ max: 1 });
const holdId = fc.nat({ max: 5 }).map((n) => `req_${n}`);
const reference = fc.nat({ max: 3 }).map((n) => `ref ${n}`);
const kind = fc.constantFrom<UsageKind | null>("text", "text", "image", "video", null);
const units = fc.oneof(fc.bigInt(0n, 10n), fc.bigInt(0n, 2000n));
const amount: fc.Arbitrary<Fraction> = fc.record({
  num: fc.oneof(fc.bigInt(0n, 20n), fc.bigInt(0n, 5_000_000n)),
  den: fc.constantFrom(1_000_000n, 600_000n, 3_000_001n, 10n ** 14n),
});
const money = fc.oneof(
  fc.constantFrom(10n ** 12n, 2n * 10n ** 12n),
  fc.bigInt(1n, 5n * 10n ** 12n),
);
// Round numbers, so that moments coincide and "at the very moment" is tried.
const seconds = fc.constantFrom(1, 60, 600, 3600, 86_400, 10 * 86_400, 28 * 86_400, 31 * 86_400);
const span = seconds.map((seconds) => seconds * 1000);
const until = fc.option(span, { nil: Infinity });

const commands = [
  fc.record({ account, kind: fc.constantFrom("cash", "gift"), money, reference, until })
    .map((args) => play("credit", args, playCredit)),
  fc.record({ account, money: fc.bigInt(-3n * 10n ** 12n, 3n * 10n ** 12n), reference })
    .map((args) => play("adjust", args, playAdjust)),
  fc.record({ account, plan: fc.constantFrom("free", "pro", "team"), until })
    .map((args) => play("set plan", args, playPlan)),
  fc.record({ account, id: holdId, kind, amount, units, ttl: seconds, isBeyond: fc.boolean() })
    .map((args) => play("hold", args, playHold)),
  fc.array(fc.record({ account, id: holdId, kind, amount, units }), { minLength: 2, maxLength: 5 })
    .map((args) => play("hold together", args, playHoldTogether)),
  fc.record({ id: holdId, amount, units }).map((args) => play("settle", args, playSettle)),
  fc.record({ id: holdId, amount, units }).map((args) => play("settle", args, playSettle)),
  holdId.map((id) => play("release", { id }, playRelease)),
  fc.record({ id: holdId, amount, units }).map((args) => play("note", args, playNote)),
  span.map((ms) => play("time passes", { ms }, playTime)),
  fc.constant(play("sweep", {}, playSweep)),
];

/** What a call was refused with; null when it passed. */
async function refusal(call: Promise<unknown>): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.param ?? error.code;
    if (error instanceof Error && /no such hold/.test(error.message)) return "unknown";
    if (error instanceof Error && /something else/.test(error.message)) return "conflict";
    throw error;
  }
}

async function playCredit(
  model: LedgerModel,
  { sql, accounts }: Real,
  a: { account: number; kind: string; money: bigint; reference: string; until: number },
) {
  const kind = a.kind as "cash" | "gift";
  const endsAt = kind === "cash" ? Infinity : model.now + a.until;
  const request = {
    account: accounts[a.account]!,
    kind,
    amount: formatDecimal(a.money),
    reference: a.reference,
    expiresAt: endsAt === Infinity ? undefined : new Date(endsAt),
  };
  const { money: amount, reference } = a;
  const fits = model.credit(request.account, { kind, amount, reference, endsAt });
  assert.equal(await refusal(addCredit(sql, request)), fits ? null : "reference");
}

async function playAdjust(
  model: LedgerModel,
  { sql, accounts }: Real,
  a: { account: number; money: bigint; reference: string },
) {
  if (a.money === 0n) return;
  const account = accounts[a.account]!;
  const expected = { booked: null, conflict: "reference", insufficient: "amount" };
  const call = adjustBalance(sql, {
    account,
    amount: formatDecimal(a.money),
    reference: a.reference,
    reason: "test",
  });
  assert.equal(await refusal(call), expected[model.adjust(account, a.money, a.reference)]);
}

async function playPlan(
  model: LedgerModel,
  { database, cluster, accounts }: Real,
  a: { account: number; plan: string; until: number },
) {
  const [account, endsAt] = [accounts[a.account]!, model.now + a.until];
  model.setPlan(account, a.plan, endsAt);
  const expiresAt = endsAt === Infinity ? undefined : new Date(endsAt);
  await commitChange(
    { database, cluster },
    (change) => setPlan(change, { account, plan: a.plan, expiresAt }),
  );
}

interface Asking {
  account: number;
  id: string;
  kind: UsageKind | null;
  amount: Fraction;
  units: bigint;
}

function request(
  accounts: string[],
  { account, id, kind, amount, units }: Asking,
  ttlSeconds: number,
) {
  return asking({
    id,
    account: accounts[account]!,
    kind,
    amount,
    units: Number(units),
    ttlSeconds,
  });
}

async function playHold(
  model: LedgerModel,
  { ledger, accounts }: Real,
  a: Asking & { ttl: number; isBeyond: boolean },
) {
  const account = accounts[a.account]!;
  const expected = model.hold(a.id, account, { ...a, ttlSeconds: a.ttl });
  const refused = {
    held: null,
    already: null,
    conflict: "conflict",
    insufficient: "insufficient_balance",
  };
  // Kept, and perhaps never resolved except by another command or the sweeper.
  const call = ledger.hold({ ...request(accounts, a, a.ttl), beyondHold: a.isBeyond })
    .then((hold) => hold.keep());
  assert.equal(await refusal(call), refused[expected]);
}

async function playHoldTogether(model: LedgerModel, { sql, accounts }: Real, all: Asking[]) {
  const distinct = [...new Map(all.map((a) => [a.id, a])).values()];
  const outcomes = await runItems(
    sql,
    distinct.map((a) => holdItem(request(accounts, a, 600), model.scale)),
  );
  const expected = distinct.map((a) =>
    model.hold(a.id, accounts[a.account]!, { ...a, ttlSeconds: 600 })
  );
  assert.deepEqual(outcomes.toSorted((a, b) => a.n - b.n).map(({ outcome }) => outcome), expected);
}

interface Charging {
  id: string;
  amount: Fraction;
  units: bigint;
}

async function playSettle(model: LedgerModel, { ledger }: Real, { id, amount, units }: Charging) {
  const before = model.holds.get(id);
  const wasOpen = before?.state === "open" || before?.isSwept === true;
  const hold = model.resolve(id, "settled", amount, units);
  const call = ledger.settle(id, costing(amount, Number(units)));
  if (hold === null) assert.equal(await refusal(call), "unknown");
  else assertSame(await call, hold, wasOpen);
}

async function playRelease(model: LedgerModel, { ledger }: Real, { id }: { id: string }) {
  const wasOpen = model.holds.get(id)?.state === "open";
  const hold = model.resolve(id, "released", { num: 0n, den: 1n }, 0n);
  if (hold === null) assert.equal(await refusal(ledger.release(id)), "unknown");
  else assertSame(await ledger.release(id), hold, wasOpen);
}

function assertSame(resolution: Resolution, hold: Hold, wasOpen: boolean) {
  const sum = (pick: "held" | "taken", isMoney: boolean) =>
    hold.allocations.reduce(
      (sum, allocation) =>
        (allocation.bucket.unit === "money") === isMoney ? sum + allocation[pick] : sum,
      0n,
    );
  assert.deepEqual({ ...resolution, id: "" }, {
    id: "",
    account: hold.account,
    state: hold.state,
    isFirst: wasOpen,
    held: formatDecimal(sum("held", true)),
    taken: formatDecimal(sum("taken", true)),
    quota: sum("taken", false),
    shortfall: formatDecimal(hold.shortfall),
    isBeyondHold: hold.shortfall > 0n || hold.allocations.some(({ held }) => held === 0n),
  });
}

async function playNote(model: LedgerModel, { ledger }: Real, { id, amount, units }: Charging) {
  const isKnown = model.checkpoint(id, amount, units);
  assert.equal(
    await refusal(ledger.checkpoint(id, costing(amount, Number(units)))),
    isKnown ? null : "unknown",
  );
}

async function playTime(model: LedgerModel, { sql }: Real, { ms }: { ms: number }) {
  model.now += ms;
  await sql`update test_clock set now = ${new Date(model.now)}`;
}

async function playSweep(model: LedgerModel, { sql }: Real) {
  model.sweep();
  await sweepLedger(sql, () => {});
}

const undone = new Error("Every history begins on an empty ledger");

/** Plays one history inside a transaction that is rolled back. */
async function playHistory(sql: Sql, scale: number, history: Iterable<Play>): Promise<void> {
  try {
    await sql.begin(async (tx) => {
      const model = new LedgerModel(START, new Map(PLANS), scale);
      const real = await openReal(tx, scale);
      for (const id of real.accounts) model.open(id);
      await fc.asyncModelRun(() => ({ model, real }), history);
      await assertAgreement(model, real);
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
}

async function openReal(tx: TransactionSql, scale: number): Promise<Real> {
  const begin = (...args: unknown[]) =>
    tx.savepoint(args.at(-1) as (tx: TransactionSql) => Promise<unknown>);
  const sql = Object.assign(tx, { begin }) as unknown as Sql;
  const database = { sql } as Database;
  const mark = { number: "0", topic: "account", subject: "" } as const;
  const cluster = {
    record: () => Promise.resolve(mark),
    awaitPeers: () => Promise.resolve(),
  } as unknown as Cluster;
  const ledger = openLedger({
    database,
    money: () => ({ currency: "EUR", currencyScale: scale }),
    onExceeded() {},
    onOrphanedHold() {},
  });
  const accounts = [];
  for (const name of ["one", "two"]) accounts.push((await createAccount(tx, { name })).id);
  return { sql: tx, database, cluster, ledger, accounts };
}

async function assertAgreement(
  model: LedgerModel,
  { database: { sql }, accounts }: Real,
): Promise<void> {
  for (const id of accounts) assert.deepEqual(await readBalance(sql, id, "USD"), model.balance(id));
  for (const id of accounts) {
    const [cash] = await sql<[{ carry: string }]>`
      select (carry * 1e18)::bigint as carry from balance_bucket where id = ${`cash:${id}`}`;
    assert.equal(BigInt(cash.carry), model.accounts.get(id)!.carry);
  }
  const states = await sql<{ id: string; state: string }[]>`
    select id, 'open' as state from hold union all select id, state from final_receipt order by id`;
  const expected = [...model.holds].map(([id, { state }]) => ({ id, state })).sort((a, b) =>
    a.id < b.id ? -1 : 1
  );
  assert.deepEqual([...states], expected);
  const { ok, checks } = await verifyLedger(sql);
  assert.ok(ok, JSON.stringify(checks.filter(({ ok }) => !ok)));
}

Deno.test("random histories leave the ledger as a pure model says, with every invariant intact", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const { sql } = database;
  await installClock(sql, new Date(START).toISOString());
  await storePlans(sql, PLANS.map(([id, quotas]) => ({ id, quotas })));

  const runs = propertyRuns(200);
  let [histories, steps] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(2, 6),
      fc.commands(commands, { maxCommands: 40, size: "max" }),
      async (scale, history) => {
        steps += [...history].length;
        // What was rolled back still lies about, and would be read past.
        if (++histories % 100 === 0) {
          await sql`vacuum account, wallet, balance_bucket, plan_term, hold, receipt, transfer`;
        }
        await playHistory(sql, scale, history);
      },
    ),
    runs,
  );
  console.log(`${steps} steps`);
});

Deno.test("amounts of any 20 digits and 12 decimals survive a round trip", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const { sql } = database;
  const { id: account } = await createAccount(sql, { name: "rich" });
  let reference = 0;
  await fc.assert(
    fc.asyncProperty(fc.bigInt(1n, 10n ** 32n - 1n), async (value) => {
      const amount = formatDecimal(value);
      await addCredit(sql, { account, kind: "gift", amount, reference: `${++reference}` });
      const [row] = await sql<[{ remaining: string; amount: string }]>`
        select p.remaining, t.amount from transfer t join balance_bucket p on p.id = t.credit
         where reference = ${String(reference)}`;
      assert.equal(decimal(row.remaining), value);
      assert.equal(decimal(row.amount), value);
    }),
    { numRuns: 100 },
  );
});
