import assert from "node:assert/strict";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { isShort } from "../helpers/ledger_looks.ts";
import { costing } from "../helpers/open_ledger.ts";
import { openReserveNodes, type ReserveNode } from "../helpers/reserve_nodes.ts";
import { until } from "../helpers/chat_gateway.ts";

Deno.test("a request draws from the reserve: no hold before it, one receipt after it", async () => {
  await using nodes = await openReserveNodes(1);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const before = await nodes.balance(account);
  assert.deepEqual([before.available_balance, before.frozen_balance], ["1000.00", "0.00"]);
  const held = await node!.hold({ id: "req_drawn", account });
  assert.equal((await nodes.sql`select from hold`).length, 0);
  const { taken, isFirst, held: amount } = await held.settle(costing("0.25", 25));
  assert.deepEqual([taken, isFirst, amount], ["0.25", true, "1.00"]);
  const receipt = await findReceipt(nodes.sql, account, "req_drawn", "EUR");
  assert.deepEqual([receipt!.status, receipt!.settled, receipt!.held], ["settled", "0.25", "1.00"]);
  assert.equal((await nodes.balance(account)).available_balance, "999.75");
  await nodes.mustBeSound();
});

Deno.test("a steady client never waits for a statement before its request", async () => {
  await using nodes = await openReserveNodes(1);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "0.1");
  // A machine that stops for a second makes any client unsteady: then it is tried again.
  let missed = Infinity;
  for (let tries = 0; missed > 0 && tries < 3; tries++) {
    missed = await missedBySteadyClient(node!, account);
  }
  assert.equal(missed, 0);
  assert.ok(node!.database.count("ledger_renew_reserves") > 2, "it was topped up");
  await nodes.mustBeSound();
});

/** How many of its requests had to be held on their own. */
async function missedBySteadyClient(node: ReserveNode, account: string): Promise<number> {
  const { missed } = node;
  const statements = node.database.count("ledger_run");
  const startedAt = performance.now();
  let requests = 0;
  await Promise.all(Array.from({ length: 4 }, async () => {
    while (performance.now() - startedAt < 3_000) {
      const hold = await node.hold({ account, amount: "0.1" });
      await new Promise((resume) => setTimeout(resume, 5));
      await hold.settle(costing("0.08", 80));
      requests++;
    }
  }));
  const sent = node.database.count("ledger_run") - statements;
  assert.ok(sent <= requests + (node.missed - missed), "at most one each");
  return node.missed - missed;
}

Deno.test("an idle reserve is returned, and so is that of a node that stops", async () => {
  await using nodes = await openReserveNodes(2, { idleMs: 300 });
  const [one, two] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await one!.warm(account, "1");
  assert.notEqual(await nodes.reserved(account), "0");
  await until("it is returned", async () => await nodes.reserved(account) === "0", 3);
  await two!.warm(account, "1");
  await two!.ledger.reserves![Symbol.asyncDispose]();
  assert.equal(await nodes.reserved(account), "0");
  assert.equal((await nodes.balance(account)).frozen_balance, "0.00");
  await nodes.mustBeSound();
});

for (const count of [1, 3]) {
  Deno.test(`50 calls at once against money for 10 serve exactly 10, on ${count} nodes with reserves`, async () => {
    await using nodes = await openReserveNodes(count);
    const account = await nodes.newAccount("10");
    // Small requests have a reserve; without what is in it the money is enough for nine.
    await Promise.all(nodes.nodes.map((node) => node.warm(account, "0.01")));
    assert.notEqual(await nodes.reserved(account), "0");
    let served = 0;
    await Promise.all(Array.from({ length: 50 }, async (_, at) => {
      try {
        await nodes.nodes[at % count]!.hold({ account });
        served++;
      } catch (error) {
        if (!isShort(error)) throw error;
      }
    }));
    assert.equal(served, 10);
    assert.equal((await nodes.balance(account)).available_balance, "0.00");
    await nodes.mustBeSound();
  });

  Deno.test(`50 calls at once against a quota for 10 serve exactly 10, on ${count} nodes with reserves`, async () => {
    await using nodes = await openReserveNodes(count);
    const account = await nodes.newAccount("0.000001");
    await nodes.setPlan(account, "pro");
    // A twentieth of 1,000 tokens is reserved at most.
    await Promise.all(nodes.nodes.map((node) => node.warm(account, "1", 2)));
    const [quota] = await nodes.sql`select from reserve where allocations[1] like 'quota:%'`;
    assert.ok(quota !== undefined, "the quota is reserved, not cash");
    let served = 0;
    await Promise.all(Array.from({ length: 50 }, async (_, at) => {
      try {
        await nodes.nodes[at % count]!.hold({ account, units: 100 });
        served++;
      } catch (error) {
        if (!isShort(error)) throw error;
      }
    }));
    assert.equal(served, 10);
    await nodes.mustBeSound();
  });
}

Deno.test("a request that lasts gets a hold of its own, by which a sweeper bills it", async () => {
  await using nodes = await openReserveNodes(1);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const [stream, killed] = [
    await node!.hold({ id: "req_stream", account }),
    await node!.hold({ id: "req_killed", account }),
  ];
  for (const hold of [stream, killed]) await hold.checkpoint(costing("0.125", 12));
  assert.equal((await nodes.sql`select from hold`).length, 2);
  await nodes.mustBeSound();
  await stream.settle(costing("0.5", 50));
  await nodes.sql`update hold set expires_at = now()`;
  await nodes.sql`select ledger_sweep_holds(10)`;
  const settled = async (id: string) => (await findReceipt(nodes.sql, account, id, "EUR"))!.settled;
  assert.deepEqual([await settled("req_stream"), await settled("req_killed")], ["0.50", "0.125"]);
  // The process was only paused.
  await killed.settle(costing("0.75", 75));
  assert.equal(await settled("req_killed"), "0.75");
  await nodes.mustBeSound();
});

Deno.test("a charge that is repeated books once, and a failed request costs nothing", async () => {
  await using nodes = await openReserveNodes(1);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const hold = await node!.hold({ account });
  assert.equal((await hold.settle(costing("0.5", 50))).isFirst, true);
  const again = await hold.settle(costing("0.9", 90));
  assert.deepEqual([again.isFirst, again.taken], [false, "0.50"]);
  const failed = await node!.hold({ id: "req_failed", account });
  await failed.release();
  assert.equal((await findReceipt(nodes.sql, account, "req_failed", "EUR"))!.status, "released");
  assert.equal((await nodes.balance(account)).available_balance, "999.50");
  await nodes.mustBeSound();
});

Deno.test("what costs more than was drawn is charged to the free balance", async () => {
  await using nodes = await openReserveNodes(1);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  const hold = await node!.hold({ account });
  const { taken, shortfall, isBeyondHold } = await hold.settle(costing("3", 300));
  assert.deepEqual([taken, shortfall, isBeyondHold], ["3.00", "0.00", true]);
  assert.equal((await nodes.balance(account)).available_balance, "997.00");
  await nodes.mustBeSound();
});

Deno.test("verify finds a reserve that is not frozen, and one that is drawn too far", async () => {
  for (
    const [damage, finding] of [
      ["update reserve set held[1] = held[1] + 1", /frozen equals open holds and reserves/],
      ["update reserve set drawn[1] = held[1] + 1", /a reserve is its draws and what is left/],
      ["update reserve set account_id = 'acc_other'", /a reserve is its draws and what is left/],
    ] as const
  ) {
    await using nodes = await openReserveNodes(1, { renewMs: 600_000, idleMs: 600_000 });
    const account = await nodes.newAccount("1000");
    await nodes.nodes[0]!.warm(account, "1");
    await nodes.mustBeSound();
    await nodes.sql.unsafe(damage);
    await assert.rejects(nodes.mustBeSound(), finding);
  }
});

Deno.test("charges of one batch are rounded as a sum, and differ from their prices by less than a unit", async () => {
  await using nodes = await openReserveNodes(1);
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  // Of prices with 6 decimals: each third is a third of a unit.
  const thirds = Array.from({ length: 40 }, (_, at) => BigInt(1_000 + 7 * at));
  const holds = await Promise.all(thirds.map(() => node!.hold({ account, amount: "0.01" })));
  assert.equal((await nodes.sql`select from hold`).length, 0, "all of them draw");
  const taken = await Promise.all(holds.map(async (hold, at) => {
    const { taken } = await hold.settle(costing({ num: thirds[at]!, den: 3_000_000n }, 1));
    return Math.round(Number(taken) * 1e6);
  }));
  for (const [at, units] of taken.entries()) {
    assert.ok(Math.abs(units - Number(thirds[at]) / 3) < 1, `${units} for ${thirds[at]} thirds`);
  }
  const exact = thirds.reduce((sum, third) => sum + Number(third), 0) / 3;
  assert.equal(taken.reduce((sum, units) => sum + units, 0), Math.round(exact));
  const captures = await nodes.sql`select from transfer where kind = 'capture'`;
  assert.ok(captures.length < 10, `${captures.length} transfers for 40 charges`);
  await nodes.mustBeSound();
});

Deno.test("a suspended account gets no reserve, and its nodes return what they have", async () => {
  await using nodes = await openReserveNodes(1, { recallMs: 50 });
  const { sql } = nodes;
  const [node] = nodes.nodes;
  const account = await nodes.newAccount("1000");
  await node!.warm(account, "1");
  await sql`update account set suspended_at = now() where id = ${account}`;
  await until("the reserve is returned", async () => await nodes.reserved(account) === "0");
  for (let n = 0; n < 10; n++) {
    await (await node!.hold({ account, amount: "1" })).settle(costing("1", 100));
    await node!.ledger.reserves!.renew();
  }
  assert.equal(await nodes.reserved(account), "0");
  await sql`update account set suspended_at = null where id = ${account}`;
  await node!.warm(account, "1");
  await nodes.mustBeSound();
});
