import assert from "node:assert/strict";
import { addCredit, adjustBalance } from "../../src/domain/ledger/credit.ts";
import { holdItem } from "../../src/domain/ledger/hold.ts";
import { runItem } from "../../src/domain/ledger/item.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Queue } from "../../src/platform/queue/queue.ts";
import { TaskCreation } from "../../src/workflows/tasks/create_task.ts";
import { openTaskWrites } from "../../src/workflows/tasks/task_writes.ts";
import { sweepReserves } from "../../src/domain/ledger/retry_reserved.ts";
import { isShort } from "../helpers/ledger_looks.ts";
import { asking, costing, installClock, PRICE } from "../helpers/open_ledger.ts";
import { openReserveNodes, type ReserveNodes } from "../helpers/reserve_nodes.ts";
import { until } from "../helpers/chat_gateway.ts";

const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

async function timed<T>(work: Promise<T>): Promise<[ms: number, result: T]> {
  const startedAt = performance.now();
  const result = await work;
  return [performance.now() - startedAt, result];
}

/** What the database answers to a hold, as it stands now. */
function ask(nodes: ReserveNodes, account: string, amount: string) {
  return runItem(nodes.sql, holdItem(asking({ account, amount, units: 1, kind: "text" }), 6));
}

Deno.test("a larger request gets what other nodes have only reserved", async () => {
  await using nodes = await openReserveNodes(3);
  const account = await nodes.newAccount("1000");
  await Promise.all(nodes.nodes.map((node) => node.warm(account, "1")));
  assert.notEqual(await nodes.reserved(account), "0");
  const [ms, hold] = await timed(nodes.nodes[0]!.hold({ account, amount: "1000", units: 1 }));
  assert.ok(ms < 1_000, `${ms} ms`);
  await hold.settle(costing("1000", 1));
  assert.equal((await nodes.balance(account)).available_balance, "0.00");
  await nodes.mustBeSound();
});

Deno.test("a task gets what nodes have only reserved", async () => {
  await using nodes = await openReserveNodes(2);
  const [node, other] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await other!.warm(account, "1");
  const queue = { isInPostgres: false, notify() {} } as unknown as Queue;
  const { database } = node!;
  const creation = new TaskCreation({
    database,
    queue,
    writes: openTaskWrites(database, queue),
    money: () => ({ currency: "EUR", currencyScale: 6 }),
  });
  const create = (amount: string) =>
    creation.create({
      account,
      requestId: newId("req"),
      clientRequestId: null,
      origin: { key: null, user: null, metadata: null },
      identity: null,
      type: "image",
      model: PRICE.model,
      job: { prompt: "x", parameters: { n: 1 }, inputs: [] },
      quote: asking({ account, amount, units: 1, kind: "image" }).quote,
      configVersion: "test",
      callbackUrl: null,
      queueSeconds: 3600,
      deadlineSeconds: 1800,
      maxActive: 100,
    });
  await assert.rejects(create("1000.01"), isShort);
  assert.notEqual(await nodes.reserved(account), "0", "nothing is recalled in vain");
  const [ms, { row }] = await timed(create("1000"));
  assert.equal(row.status, "queued");
  assert.ok(ms < 1_000, `${ms} ms`);
  await nodes.mustBeSound();
});

Deno.test("a debit gets what is only reserved, and one that is too large is refused at once", async () => {
  await using nodes = await openReserveNodes(2);
  const account = await nodes.newAccount("1000");
  await Promise.all(nodes.nodes.map((node) => node.warm(account, "1")));
  const debit = (amount: string) =>
    adjustBalance(nodes.sql, { account, amount, reference: `debit ${amount}`, reason: "test" });
  const [ms] = await timed(assert.rejects(debit("-1000.01"), isShort));
  assert.ok(ms < 500, `${ms} ms`);
  assert.notEqual(await nodes.reserved(account), "0", "nothing is recalled in vain");
  await debit("-1000");
  assert.equal((await nodes.balance(account)).available_balance, "0.00");
  await nodes.mustBeSound();
});

Deno.test("charges that wait for the database when a reserve is recalled leave nothing drawn", async () => {
  await using nodes = await openReserveNodes(2);
  const [busy, other] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await busy!.warm(account, "1");
  const holds = await Promise.all(Array.from({ length: 5 }, () => busy!.hold({ account })));
  assert.equal(busy!.draws().length, 5);
  const unlock = await nodes.lock(account);
  const settled = holds.map((hold) => hold.settle(costing("0.5", 50)));
  await pause(50);
  const rest = other!.hold({ account, amount: "997.5", units: 1 });
  await pause(50);
  await unlock();
  await Promise.all(settled);
  await (await rest).settle(costing("997.5", 1));
  assert.equal((await nodes.balance(account)).available_balance, "0.00");
  await nodes.mustBeSound();
});

Deno.test("what draws leave over is returned while others wait for it", async () => {
  await using nodes = await openReserveNodes(2);
  const [busy, other] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await busy!.warm(account, "1");
  const hold = await busy!.hold({ account });
  assert.equal(busy!.draws().length, 1);
  const rest = other!.hold({ account, amount: "999.9", units: 1 });
  await until("the reserve is recalled", async () => await nodes.reserved(account) === "1", 2);
  await hold.settle(costing("0.1", 10));
  await (await rest).release();
  await nodes.mustBeSound();
});

Deno.test("a request that reserves cannot help is refused at once, also while one waits", async () => {
  await using nodes = await openReserveNodes(2);
  const [node, dead] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await dead!.warm(account, "1");
  dead!.kill();
  const statements = node!.database.count("ledger_run");
  const [ms] = await timed(assert.rejects(node!.hold({ account, amount: "1000.01" }), isShort));
  assert.ok(ms < 500, `${ms} ms`);
  assert.equal(node!.database.count("ledger_run") - statements, 1);
  const waiting = node!.hold({ account, amount: "1000", units: 1 });
  await pause(50);
  await assert.rejects(node!.hold({ account, amount: "1000.01" }), isShort);
  await (await waiting).release();
});

Deno.test("requests that wait for one account share their statements, and seldom ask", async () => {
  await using nodes = await openReserveNodes(2, { leaseMs: 1_200 });
  const [node, dead] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await dead!.warm(account, "1");
  dead!.kill();
  const statements = node!.database.count("ledger_");
  const held = await Promise.all(
    Array.from({ length: 20 }, () => node!.hold({ account, amount: "50", units: 1 })),
  );
  const sent = node!.database.count("ledger_") - statements;
  assert.ok(sent < 60, `${sent} statements`);
  await Promise.all(held.map((hold) => hold.release()));
});

Deno.test("a client that disconnects while it waits is not held for", async () => {
  await using nodes = await openReserveNodes(2);
  const [node, dead] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await dead!.warm(account, "1");
  dead!.kill();
  const signal = AbortSignal.abort(new Error("disconnected"));
  const asked = asking({ account, amount: "1000", units: 1, kind: "text" });
  await assert.rejects(node!.ledger.hold({ ...asked, signal }), /disconnected/);
});

Deno.test("older nodes read that the balance is insufficient, newer ones also when it will not be", async () => {
  await using nodes = await openReserveNodes(1, { leaseMs: 60_000, idleMs: 60_000 });
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  node!.isDeaf = true;
  const { outcome, retry_ms } = await ask(nodes, account, "1000");
  assert.equal(outcome, "insufficient");
  assert.ok(retry_ms! > 0 && retry_ms! <= 60_000, `${retry_ms} ms`);
  const never = await ask(nodes, account, "1000.01");
  assert.deepEqual([never.outcome, never.retry_ms], ["insufficient", null]);
});

Deno.test("a recall reaches a node that gets no notifications within about a second", async () => {
  await using nodes = await openReserveNodes(2, { leaseMs: 60_000, renewMs: 1_000 });
  const [node, deaf] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await deaf!.warm(account, "1");
  deaf!.isDeaf = true;
  const [ms, hold] = await timed(node!.hold({ account, amount: "1000", units: 1 }));
  assert.ok(ms < 2_000, `${ms} ms`);
  await hold.release();
});

Deno.test("all reserves of an account together have at most a twentieth of its money", async () => {
  await using nodes = await openReserveNodes(3);
  const account = await nodes.newAccount("100");
  const attempts = nodes.nodes.map((node) => node.warm(account, "1").catch(() => undefined));
  await Promise.all(attempts);
  for (const node of nodes.nodes) {
    for (let at = 0; at < 4; at++) await (await node.hold({ account })).release();
  }
  const reserved = Number(await nodes.reserved(account));
  assert.ok(reserved > 0 && reserved <= 5, `${reserved} of 100`);
});

Deno.test("a shortfall is recorded only if other nodes have nothing left to return", async () => {
  await using nodes = await openReserveNodes(3);
  const [paused, rich, third] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await paused!.warm(account, "1");
  const drawn = await paused!.hold({ account });
  await drawn.checkpoint(costing("0.1", 1));
  await paused!.ledger.reserves![Symbol.asyncDispose]();
  await rich!.warm(account, "1");
  const reserved = Number(await nodes.reserved(account));
  const free = 1_000 - 1 - reserved;
  const rest = await third!.hold({ account, amount: String(free), units: 1 });
  assert.notEqual(await nodes.reserved(account), "0", "nothing was recalled for it");
  // Above its hold: only what is reserved can pay.
  const { taken, shortfall } = await drawn.settle(costing("3", 300));
  assert.deepEqual([taken, shortfall], ["3.00", "0.00"]);
  await rest.release();
  await nodes.mustBeSound();
});

Deno.test("a request that fails keeps its draw until the database knows", async () => {
  await using nodes = await openReserveNodes(1);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const hold = await node!.hold({ account });
  const unlock = await nodes.lock(account);
  const releasing = hold.release();
  await pause(50);
  assert.equal(node!.draws().length, 1);
  await unlock();
  await releasing;
  assert.equal(node!.draws().length, 0);
});

Deno.test("a sweep returns all reserves that have ended, and waits for no account", async () => {
  await using nodes = await openReserveNodes(1);
  const accounts: string[] = [];
  for (let at = 0; at < 130; at++) accounts.push(await nodes.newAccount("10"));
  await nodes.sql`
    insert into reserve (id, account_id, node_id, renewal, allocations, held, drawn, lease_ms, expires_at)
    select 'rsv_' || a, a, 'node_dead', 1, array['cash:' || a], array[1], array[0], 6000, now()
      from unnest(${accounts}::text[]) a`;
  await nodes.sql`update balance_bucket set frozen = 1 where account_id = any (${accounts})`;
  const unlock = await nodes.lock(accounts[0]!);
  const [ms, swept] = await timed(sweepReserves(nodes.sql));
  assert.equal(swept, 129);
  assert.ok(ms < 5_000, `${ms} ms`);
  await unlock();
  assert.equal(await sweepReserves(nodes.sql), 1);
  await nodes.mustBeSound();
});

Deno.test("after the database's clock was set back, a dead node's reserve is still returned", async () => {
  await using nodes = await openReserveNodes(2);
  const [node, dead] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await dead!.warm(account, "1");
  dead!.kill();
  await nodes.sql`update reserve set expires_at = now() + interval '1 hour'`;
  const { retry_ms } = await ask(nodes, account, "1000");
  assert.ok(retry_ms! <= 1_500, `${retry_ms} ms`);
  const hold = await node!.hold({ account, amount: "1000", units: 1 });
  await hold.release();
  await nodes.mustBeSound();
});

Deno.test("a new month's quota and a gift are used before cash that was reserved earlier", async () => {
  await using nodes = await openReserveNodes(1, { recallMs: 50 });
  const [node] = nodes.nodes;
  await installClock(nodes.sql, "2026-01-31T12:00:00Z");
  const account = await nodes.newAccount("1000");
  await nodes.setPlan(account, "pro");
  const all = await node!.ledger.hold(asking({ account, amount: "1", units: 1_000, kind: "text" }));
  await all.settle(costing("1", 1_000));
  const reservedIn = async () => {
    await node!.warm(account, "1", 2);
    const rows = await nodes.sql<{ source: string }[]>`
      select split_part(allocations[1], ':', 1) as source from reserve
       where account_id = ${account} and recalled_at is null`;
    return rows.map(({ source }) => source);
  };
  assert.deepEqual(await reservedIn(), ["cash"]);
  await nodes.sql`update test_clock set now = '2026-03-01T12:00:00Z'`;
  await until("the quota is reserved", async () => (await reservedIn()).join() === "quota", 5);
  await nodes.setPlan(account, "free");
  await until("cash is reserved", async () => (await reservedIn()).join() === "cash", 5);
  await addCredit(nodes.sql, { account, kind: "gift", amount: "500", reference: "gift" });
  await until("the gift is reserved", async () => (await reservedIn()).join() === "gift", 5);
});
