import assert from "node:assert/strict";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { sweepReserves } from "../../src/domain/ledger/retry_reserved.ts";
import { isShort } from "../helpers/ledger_looks.ts";
import { costing } from "../helpers/open_ledger.ts";
import { openReserveNodes, type ReserveNodes } from "../helpers/reserve_nodes.ts";
import { until } from "../helpers/chat_gateway.ts";

const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

/** Waits until the leases of dead nodes are over, and says what the account then has. */
async function balanceAfterLease(nodes: ReserveNodes, account: string) {
  await until("reserves come back", async () => {
    await sweepReserves(nodes.sql);
    return await nodes.reserved(account) === "0";
  }, 5);
  await nodes.mustBeSound();
  const { available_balance, frozen_balance } = await nodes.balance(account);
  return [available_balance, frozen_balance];
}

Deno.test("a node killed between draw and answer charges nothing, and its reserve comes back", async () => {
  await using nodes = await openReserveNodes(2);
  const [other, killed] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await killed!.warm(account, "1");
  await killed!.hold({ id: "req_lost", account });
  killed!.kill();
  // All the money: it waits until the lease of the dead node is over.
  const hold = await other!.hold({ account, amount: "1000", units: 1 });
  await hold.release();
  assert.equal(await findReceipt(nodes.sql, account, "req_lost", "EUR"), null);
  assert.deepEqual(await balanceAfterLease(nodes, account), ["1000.00", "0.00"]);
});

Deno.test("a node killed between answer and write charges nothing, or what it has written", async () => {
  for (const [how, expected] of [["statement", "1000.00"], ["answer", "999.60"]] as const) {
    await using nodes = await openReserveNodes(2);
    const [, killed] = nodes.nodes;
    const account = await nodes.newAccount("1000");
    await killed!.warm(account, "1");
    const drawn = await killed!.hold({ id: "req_lost", account });
    killed!.database.breakNext(how, "ledger_run");
    await assert.rejects(drawn.settle(costing("0.4", 40)));
    killed!.kill();
    assert.deepEqual(await balanceAfterLease(nodes, account), [expected, "0.00"]);
    const receipt = await findReceipt(nodes.sql, account, "req_lost", "EUR");
    assert.equal(receipt?.settled, how === "answer" ? "0.40" : undefined);
  }
});

Deno.test("a node killed in the middle of a top-up loses nothing", async () => {
  for (const how of ["statement", "answer"] as const) {
    await using nodes = await openReserveNodes(1);
    const [killed] = nodes.nodes;
    const account = await nodes.newAccount("1000");
    await killed!.warm(account, "1");
    killed!.database.breakNext(how, "ledger_renew_reserves");
    for (let at = 0; at < 4; at++) await killed!.hold({ account });
    await killed!.ledger.reserves!.renew();
    killed!.kill();
    assert.deepEqual(await balanceAfterLease(nodes, account), ["1000.00", "0.00"]);
  }
});

Deno.test("after a top-up whose answer was lost, requests go on drawing and nothing stays frozen", async () => {
  await using nodes = await openReserveNodes(1, { idleMs: 500 });
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const holds = [];
  for (let at = 0; at < 4; at++) {
    node!.database.breakNext("answer", "ledger_renew_reserves");
    holds.push(await node!.hold({ account }));
    await node!.ledger.reserves!.renew();
  }
  assert.equal((await nodes.sql`select from hold`).length, 0);
  await nodes.mustBeSound();
  for (const hold of holds) await hold.settle(costing("0.5", 50));
  await until("all is returned", async () => await nodes.reserved(account) === "0", 3);
  const { available_balance, frozen_balance } = await nodes.balance(account);
  assert.deepEqual([available_balance, frozen_balance], ["998.00", "0.00"]);
});

Deno.test("a node that loses its database stops drawing when its lease could have ended", async () => {
  await using nodes = await openReserveNodes(1, { leaseMs: 1_000 });
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  node!.database.isAway = true;
  await node!.hold({ account });
  assert.equal(node!.draws().length, 1, "until then it draws");
  await pause(1_000);
  await assert.rejects(node!.hold({ account }), { code: "CONNECTION_CLOSED" });
  assert.equal(node!.draws().length, 1);
});

Deno.test("a node that was paused beyond its lease charges the free balance, and records the rest", async () => {
  await using nodes = await openReserveNodes(2, { leaseMs: 60_000, renewMs: 60_000 });
  const [paused, other] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await paused!.warm(account, "1");
  const drawn = [await paused!.hold({ account }), await paused!.hold({ account })];
  assert.equal(paused!.draws().length, 2);
  paused!.isDeaf = true;
  await nodes.sql`update reserve set expires_at = now()`;
  await sweepReserves(nodes.sql);
  const rest = await other!.hold({ account, amount: "999.5", units: 1 });
  const resolutions = [];
  for (const hold of drawn) resolutions.push(await hold.settle(costing("0.4", 40)));
  assert.deepEqual(resolutions.map(({ taken, shortfall }) => [taken, shortfall]), [
    ["0.40", "0.00"],
    ["0.10", "0.30"],
  ]);
  await rest.release();
  assert.equal((await nodes.balance(account)).available_balance, "999.50");
  await nodes.mustBeSound();
});

Deno.test("a node whose reserve is gone holds for its running requests, and draws from a new one", async () => {
  await using nodes = await openReserveNodes(1);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const drawn = await node!.hold({ id: "req_running", account });
  await nodes.sql`update reserve set expires_at = now()`;
  await sweepReserves(nodes.sql);
  await until("it has a hold", async () => {
    const rows = await nodes.sql`select from hold where id = 'req_running'`;
    return rows.length === 1;
  }, 3);
  await node!.warm(account, "1");
  await drawn.settle(costing("0.5", 50));
  assert.equal((await nodes.balance(account)).available_balance, "999.50");
  await nodes.mustBeSound();
});

Deno.test("a charge never takes what other requests have drawn", async () => {
  const never = { renewMs: 60_000, leaseMs: 60_000, idleMs: 60_000, tickMs: 60_000 };
  await using nodes = await openReserveNodes(1, never);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const [first, second] = [await node!.hold({ account }), await node!.hold({ account })];
  // Nothing is topped up after this.
  await node!.ledger.reserves!.renew();
  // Only one of them is still backed.
  await nodes.sql`
    with cut as (update reserve set held = array[1.5] where account_id = ${account} returning held)
    update balance_bucket set frozen = 1.5 from cut where account_id = ${account} and source = 'cash'`;
  for (const hold of [first, second]) {
    const { taken, shortfall } = await hold.settle(costing("1", 100));
    assert.deepEqual([taken, shortfall], ["1.00", "0.00"]);
  }
  assert.equal(await nodes.reserved(account), "0.5");
  await nodes.mustBeSound();
});

Deno.test("a request that lasts gets a hold of its own without a checkpoint, and costs nothing if killed", async () => {
  await using nodes = await openReserveNodes(1, { moveMs: 200 });
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const [settled] = [
    await node!.hold({ account }),
    await node!.hold({ id: "req_killed", account }),
  ];
  assert.equal(node!.draws().length, 2);
  await until("both have holds", () => node!.draws().length === 0, 3);
  assert.equal((await nodes.sql`select from hold`).length, 2);
  await settled!.settle(costing("0.5", 50));
  node!.kill();
  await nodes.sql`update hold set expires_at = now()`;
  await nodes.sql`select ledger_sweep_holds(10)`;
  assert.deepEqual(await balanceAfterLease(nodes, account), ["999.50", "0.00"]);
  assert.equal((await findReceipt(nodes.sql, account, "req_killed", "EUR"))!.settled, "0.00");
});

Deno.test("a request that cannot get a hold is tried again", async () => {
  await using nodes = await openReserveNodes(2, { leaseMs: 60_000, renewMs: 60_000 });
  const [node, other] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const drawn = await node!.hold({ id: "req_running", account });
  await nodes.sql`update reserve set expires_at = now()`;
  await sweepReserves(nodes.sql);
  const rest = await other!.hold({ account, amount: "1000", units: 1 });
  const running = () => nodes.sql`select from hold where id = 'req_running'`;
  await drawn.checkpoint(costing("0.1", 1));
  assert.equal((await running()).length, 0, "there is nothing to hold");
  await rest.release();
  await drawn.checkpoint(costing("0.1", 1));
  assert.equal((await running()).length, 1);
  await drawn.settle(costing("0.5", 50));
  assert.equal((await nodes.balance(account)).available_balance, "999.50");
  await nodes.mustBeSound();
});

Deno.test("a stream that ends while the database is away is settled when it is back", async () => {
  await using nodes = await openReserveNodes(1);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const [lost, running] = [
    await node!.hold({ id: "req_lost", account }),
    await node!.hold({ account }),
  ];
  const begunBefore = Date.now();
  node!.database.isAway = true;
  assert.equal(await lost.settleDelivered(costing("0.25", 25)), null);
  await pause(500);
  node!.database.isAway = false;
  await until("it is settled", () => node!.ledger.pending.size === 0, 5);
  const [row] = await nodes.sql<[{ created_at: Date }]>`
    select created_at from receipt where id = 'req_lost'`;
  assert.ok(
    Number(row.created_at) <= begunBefore + 100,
    "the time of the request, not of the write",
  );
  await running.settle(costing("0.5", 50));
  await until("nothing stays frozen", async () => {
    const { available_balance, frozen_balance } = await nodes.balance(account);
    return available_balance === "999.25" && frozen_balance === "0.00";
  }, 3);
  await nodes.mustBeSound();
});

Deno.test("two nodes serve a poor account to its last cent, and no further", async () => {
  await using nodes = await openReserveNodes(2);
  const account = await nodes.newAccount("3");
  let served = 0;
  await Promise.all(Array.from({ length: 16 }, async (_, client) => {
    const node = nodes.nodes[client % 2]!;
    for (;;) {
      try {
        const hold = await node.hold({ account, amount: "0.01", units: 1 });
        const { shortfall } = await hold.settle(costing("0.01", 1));
        assert.equal(shortfall, "0.00");
        served++;
      } catch (error) {
        if (!isShort(error)) throw error;
        return;
      }
    }
  }));
  assert.equal(served, 300);
  assert.equal((await nodes.balance(account)).available_balance, "0.00");
  await nodes.mustBeSound();
});
