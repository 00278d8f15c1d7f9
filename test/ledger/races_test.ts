/** What many callers on many nodes do to one ledger at once. On a real Postgres. */
import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { newId } from "../../src/lib/ids.ts";
import { formatDecimal } from "../../src/lib/money.ts";
import { ApiError } from "../../src/lib/api_error.ts";
import { readBalance } from "../../src/domain/ledger/balance.ts";
import { addCredit, adjustBalance } from "../../src/domain/ledger/credit.ts";
import { type Ledger, openLedger } from "../../src/domain/ledger/ledger.ts";
import { sweepLedger } from "../../src/domain/ledger/sweep.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { isStorageDown } from "../../src/platform/database/postgres.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { asking, costing } from "../helpers/open_ledger.ts";
import { holdIn } from "../helpers/ledger_in.ts";

const RACE = {
  ignore: Deno.env.get("TEST_STORE") === "embedded",
  sanitizeOps: true,
  sanitizeResources: true,
};

interface Nodes extends AsyncDisposable {
  database: Database;
  /** Each with connections of its own, as nodes have. */
  ledgers: Ledger[];
  databases: Database[];
  newAccount(cash: string): Promise<string>;
  available(account: string): Promise<string>;
  mustBeSound(): Promise<void>;
}

async function openNodes(count: number): Promise<Nodes> {
  await using parts = new AsyncDisposableStack();
  const fresh = parts.use(await freshDatabase());
  const databases: Database[] = [];
  for (let i = 0; i < count; i++) databases.push(parts.use(await fresh.open()));
  const ledgers = databases.map((database) =>
    openLedger({
      database,
      money: () => ({ currency: "EUR", currencyScale: 6 }),
      onExceeded() {},
      onOrphanedHold() {},
    })
  );
  for (const { pending } of ledgers) parts.use(pending);
  const database = databases[0]!;
  const closing = parts.move();
  return {
    database,
    databases,
    ledgers,
    async newAccount(cash) {
      const { id } = await createAccount(database.sql, { name: "racer" });
      await addCredit(database.sql, {
        account: id,
        kind: "cash",
        amount: cash,
        reference: "start",
      });
      return id;
    },
    available: async (account) =>
      (await readBalance(database.sql, account, "USD")).available_balance,
    async mustBeSound() {
      const { ok, checks } = await verifyLedger(database.sql);
      assert.ok(ok, JSON.stringify(checks.filter(({ ok }) => !ok)));
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

const times = <T>(count: number, each: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => each(at));

function isShort(error: unknown): boolean {
  return error instanceof ApiError && error.code === "insufficient_balance";
}

Deno.test("of 200 holds at once with funds for 50, exactly 50 succeed", RACE, async (t) => {
  await using nodes = await openNodes(4);
  const race = async (hold: (account: string, at: number) => Promise<unknown>) => {
    const account = await nodes.newAccount("50");
    const results = await Promise.allSettled(times(200, (at) => hold(account, at)));
    const refused = results.filter((result) => result.status === "rejected");
    assert.equal(results.length - refused.length, 50);
    assert.ok(refused.every(({ reason }) => isShort(reason)));
    assert.equal(await nodes.available(account), "0.00");
  };
  await t.step(
    "sharing statements, on four nodes",
    () =>
      race(async (account, at) =>
        (await nodes.ledgers[at % 4]!.hold(asking({ account, amount: "1" }))).keep()
      ),
  );
  await t.step(
    "each in a transaction of its own",
    () =>
      race((account, at) =>
        nodes.databases[at % 4]!.sql.begin((tx) => holdIn(tx, asking({ account, amount: "1" })))
      ),
  );
  await nodes.mustBeSound();
});

Deno.test("the same hold id 100 times at once is one hold", RACE, async () => {
  await using nodes = await openNodes(4);
  const account = await nodes.newAccount("50");
  const held = await Promise.all(
    times(
      100,
      async (at) =>
        (await nodes.ledgers[at % 4]!.hold(asking({ id: "req_same", account, amount: "1" })))
          .keep(),
    ),
  );
  assert.ok(held.every(({ state }) => state === "open"));
  assert.equal(await nodes.available(account), "49.00");
  await nodes.mustBeSound();
});

Deno.test("the same hold id for two accounts at once is held for one of them", RACE, async () => {
  await using nodes = await openNodes(2);
  const accounts = [await nodes.newAccount("50"), await nodes.newAccount("50")];
  for (let round = 0; round < 50; round++) {
    const id = newId("req");
    const results = await Promise.allSettled(
      accounts.map((account, at) =>
        nodes.ledgers[at]!.hold(asking({ id, account, amount: "1" })).then((hold) => hold.keep())
      ),
    );
    assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  }
  await nodes.mustBeSound();
});

Deno.test("a settlement racing a release resolves the hold once, 1,000 times", RACE, async () => {
  await using nodes = await openNodes(2);
  const account = await nodes.newAccount("1000");
  const [here, there] = nodes.ledgers as [Ledger, Ledger];
  let settled = 0;
  for (let round = 0; round < 20; round++) {
    await Promise.all(times(50, async (at) => {
      const { id } = (await here.hold(asking({ account, amount: "1" }))).keep();
      const [one, other] = at % 2 === 0 ? [here, there] : [there, here];
      const both = await Promise.all([
        one.settle(id, costing("1"), account),
        other.release(id, account),
      ]);
      assert.equal(both.filter(({ isFirst }) => isFirst).length, 1);
      assert.equal(both[0].state, both[1].state);
      assert.equal(both[0].taken, both[1].taken);
      if (both[0].state === "settled") settled++;
    }));
  }
  assert.equal(await nodes.available(account), formatDecimal(BigInt(1000 - settled) * 10n ** 12n));
  await nodes.mustBeSound();
});

Deno.test(
  "while 16 connections move money between 20 accounts for 10 s, every snapshot sums to the total",
  RACE,
  async () => {
    await using nodes = await openNodes(2);
    const accounts = await Promise.all(times(20, () => nodes.newAccount("100")));
    const until = performance.now() + 10_000;
    const pick = () => accounts[Math.floor(Math.random() * accounts.length)]!;
    let moved = 0;

    /** Two adjustments in one transaction, wallets in the order of their ids. */
    async function transfer(at: number) {
      const [from, to] = [pick(), pick()];
      if (from === to) return;
      const reference = newId("req");
      const amount = String(1 + Math.floor(Math.random() * 5));
      const allocations = [{ account: from, amount: `-${amount}` }, { account: to, amount }]
        .sort((a, b) => a.account < b.account ? -1 : 1);
      await nodes.databases[at % 2]!.sql.begin(async (tx) => {
        for (const allocation of allocations) {
          await adjustBalance(tx, { ...allocation, reference, reason: "bank test" });
        }
      });
      moved++;
    }
    async function buy(at: number) {
      const ledger = nodes.ledgers[at % 2]!;
      await using hold = await ledger.hold(asking({ account: pick(), amount: "1" }));
      if (Math.random() < 0.2) return;
      await hold.settle(costing("0.01"));
      moved++;
    }
    async function write(at: number) {
      while (performance.now() < until) {
        await (Math.random() < 0.5 ? transfer(at) : buy(at)).catch((error) => {
          if (!isShort(error)) throw error;
        });
      }
    }
    let seen = 0;
    async function read() {
      while (performance.now() < until) {
        const [row] = await nodes.database.sql<[{ sums: boolean; freezes: boolean }]>`
        select (select sum(remaining) from balance_bucket)
                 + (select coalesce(sum(amount), 0) from transfer where credit = 'revenue')
                 = (select sum(amount) from transfer where debit = 'topup') as sums,
               (select sum(frozen) from balance_bucket)
                 = (select coalesce(sum(part), 0) from hold, unnest(held) part)
                 as freezes`;
        assert.deepEqual({ ...row }, { sums: true, freezes: true });
        seen++;
      }
    }
    await Promise.all([...times(16, write), read(), read()]);
    assert.ok(moved > 100 && seen > 20, `${moved} movements, ${seen} snapshots`);
    await nodes.mustBeSound();
  },
);

Deno.test("nodes that work on the same accounts in any order do not deadlock", RACE, async () => {
  await using nodes = await openNodes(4);
  const accounts = await Promise.all(times(30, () => nodes.newAccount("1000")));
  await Promise.all(nodes.ledgers.flatMap((ledger, node) =>
    times(30, async (at) => {
      for (let round = 0; round < 20; round++) {
        const account = accounts[(node % 2 === 0 ? at + round : 60 - at - round + 30) % 30]!;
        const hold = await ledger.hold(asking({ account, amount: "0.1" }));
        await hold.settle(costing("0.05"));
      }
    })
  ));
  const [row] = await nodes.database.sql`
    select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`;
  assert.equal(row!.deadlocks, 0);
  await nodes.mustBeSound();
});

Deno.test(
  "an item that the database rejects fails alone; the others of its batch succeed",
  RACE,
  async () => {
    await using nodes = await openNodes(1);
    const [ledger] = nodes.ledgers as [Ledger];
    const account = await nodes.newAccount("100");
    const holds = await Promise.all(times(20, () => ledger.hold(asking({ account, amount: "1" }))));
    const results = await Promise.allSettled(holds.map((hold, at) =>
      // JSON that Postgres does not store.
      hold.settle(costing("1", 0, at === 7 ? { unit: "\u0000" } as never : {}))
    ));
    assert.deepEqual(
      results.flatMap(({ status }, at) => status === "rejected" ? [at] : []),
      [7],
    );
    // It was given up, and costs nothing.
    await until("nothing waits", () => ledger.pending.size === 0);
    assert.equal(await nodes.available(account), "81.00");
    await nodes.mustBeSound();
  },
);

Deno.test("an account whose wallet stays locked does not stop the others", RACE, async () => {
  await using nodes = await openNodes(1);
  const [ledger] = nodes.ledgers as [Ledger];
  const [locked, free] = [await nodes.newAccount("100"), await nodes.newAccount("100")];
  await nodes.database.sql`alter function ledger_run set lock_timeout = '300ms'`;
  const { promise: enough, resolve: unlock } = Promise.withResolvers<void>();
  const { promise: isLocked, resolve: begin } = Promise.withResolvers<void>();
  const keeping = nodes.database.sql.begin(async (tx) => {
    await tx`select from wallet where account_id = ${locked} for update`;
    begin();
    await enough;
  });
  await isLocked;
  const results = await Promise.allSettled(times(20, async (at) => {
    const account = at % 2 === 0 ? free : locked;
    return (await ledger.hold(asking({ account, amount: "1" }))).keep();
  }));
  unlock();
  await keeping;
  assert.deepEqual(
    results.map(({ status }) => status === "fulfilled"),
    times(20, (at) => at % 2 === 0),
  );
  await nodes.mustBeSound();
});

Deno.test(
  "connections lost under load lose no confirmed booking and leave the ledger consistent",
  RACE,
  async () => {
    await using nodes = await openNodes(3);
    const [configStore, ...workers] = nodes.databases as [Database, Database, Database];
    const account = await nodes.newAccount("100000");
    const answered = new Map<string, string>();
    let lost = 0;
    const startedAt = performance.now();
    // On a busy machine a statement may take longer than the pause before it is ended: the pauses grow.
    const isOver = () => {
      const ms = performance.now() - startedAt;
      return ms > 60_000 || ms > 3_000 && answered.size > 50 && lost > 0;
    };
    async function work(ledger: Ledger) {
      while (!isOver()) {
        const id = newId("req");
        try {
          const hold = (await ledger.hold(asking({ id, account, amount: "1" }))).keep();
          answered.set(id, "open");
          await hold.settle(costing("0.5"));
          answered.set(id, "settled");
        } catch (error) {
          if (!isStorageDown(error)) throw error;
          lost++;
          await new Promise((resume) => setTimeout(resume, 10));
        }
      }
    }
    async function kill() {
      for (let pauseMs = 50; !isOver(); pauseMs += 5) {
        await new Promise((resume) => setTimeout(resume, pauseMs));
        await configStore.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and state = 'active' and query like '%ledger_run%'
           and pid <> pg_backend_pid()`;
      }
    }
    await Promise.all([
      ...times(32, (at) => work(nodes.ledgers[1 + at % workers.length]!)),
      kill(),
    ]);

    assert.ok(answered.size > 50 && lost > 0, `${answered.size} answered, ${lost} lost`);
    const rows = await configStore.sql<{ id: string; state: string }[]>`
      select id, 'open' as state from hold union all select id, state from final_receipt`;
    const states = new Map(rows.map(({ id, state }) => [id, state]));
    for (const [id, state] of answered) {
      // An answer that did not arrive may have been booked all the same; one that did arrive was.
      if (state === "settled") assert.equal(states.get(id), "settled");
      else assert.ok(states.has(id));
    }
    await nodes.mustBeSound();
    // What the dead left open is the sweeper's.
    await configStore.sql`update hold set expires_at = now()`;
    await sweepLedger(configStore.sql, () => {});
    assert.equal((await readBalance(configStore.sql, account, "USD")).frozen_balance, "0.00");
    await nodes.mustBeSound();
  },
);

Deno.test(
  "a database outage fails every waiting call, and leaving a hold's scope does not throw",
  RACE,
  async () => {
    await using fresh = await freshDatabase();
    const database = await fresh.open();
    const strays: string[] = [];
    const ledger = openLedger({
      database,
      money: () => ({ currency: "EUR", currencyScale: 6 }),
      onExceeded() {},
      onOrphanedHold: (id) => strays.push(id),
    });
    const { id: account } = await createAccount(database.sql, { name: "racer" });
    await addCredit(database.sql, { account, kind: "cash", amount: "10", reference: "start" });
    {
      await using hold = await ledger.hold(asking({ account, amount: "1" }));
      await database[Symbol.asyncDispose]();
      const results = await Promise.allSettled(
        times(20, () => ledger.hold(asking({ account, amount: "1" }))),
      );
      assert.ok(
        results.every((result) => result.status === "rejected" && isStorageDown(result.reason)),
      );
      assert.equal(hold.state, "open");
    }
    assert.equal(strays.length, 1);
  },
);
