import assert from "node:assert/strict";
import type { OpenHold } from "../../src/domain/ledger/hold.ts";
import { runLate } from "../../src/domain/ledger/item.ts";
import { settleItem } from "../../src/domain/ledger/settle.ts";
import { sweepLedger } from "../../src/domain/ledger/sweep.ts";
import { asking, costing } from "../helpers/open_ledger.ts";
import { openReserveNodes, type ReserveNodes } from "../helpers/reserve_nodes.ts";
import { until } from "../helpers/chat_gateway.ts";

interface Scene {
  nodes: ReserveNodes;
  account: string;
  /** Of 3, or of one unit of quota; it may be exceeded. */
  slow: OpenHold;
  /** Holds all that is free: the rest is reserved by another node. */
  takeFree(): Promise<void>;
  expire(secondsAgo: number): Promise<void>;
  receipt(): Promise<{ taken: number; shortfall: number } | null>;
}

const NO_QUOTA = "free";

async function openScene(plan = NO_QUOTA): Promise<Scene & AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const nodes = parts.use(await openReserveNodes(2, { idleMs: 60_000, leaseMs: 60_000 }));
  const [busy, other] = nodes.nodes;
  const { sql } = nodes;
  const account = await nodes.newAccount("1000");
  if (plan !== NO_QUOTA) await nodes.setPlan(account, plan);
  const asked = asking({ account, amount: "3", units: 1, kind: "text" });
  const slow = (await other!.ledger.hold({ ...asked, beyondHold: true })).keep();
  for (let at = 0; at < 12; at++) await busy!.warm(account, "1");
  assert.ok(Number(await nodes.reserved(account)) >= 10);
  const closing = parts.move();
  return {
    nodes,
    account,
    slow,
    async takeFree() {
      for (const unit of ["text", "money"]) {
        const [row] = await sql<[{ free: string }]>`
          select trim_scale(coalesce(sum(remaining - frozen), 0))::text as free
            from balance_bucket where account_id = ${account} and unit = ${unit}`;
        if (row.free === "0") continue;
        const rest = unit === "money"
          ? asking({ account, amount: row.free })
          : asking({ account, amount: "1", units: Number(row.free), kind: "text" });
        (await other!.ledger.hold(rest)).keep();
      }
    },
    async expire(secondsAgo) {
      await sql`
        update hold set expires_at = ledger_now() - make_interval(secs => ${secondsAgo}) where id = ${slow.id}`;
    },
    async receipt() {
      const [row] = await sql<[{ taken: number; shortfall: number }?]>`
        select (select sum(t) from unnest(taken) t)::float8 as taken, shortfall::float8 from final_receipt
         where id = ${slow.id}`;
      return row ?? null;
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

const sweep = ({ nodes }: Scene) => sweepLedger(nodes.sql, () => {});

for (const [what, plan, units] of [["money", NO_QUOTA, 1], ["quota", "team", 20]] as const) {
  Deno.test(`a late settlement waits for ${what} that is only reserved`, async () => {
    await using scene = await openScene(plan);
    const { nodes, slow } = scene;
    await scene.expire(1);
    await sweep(scene);
    await scene.takeFree();
    const { isFirst, taken, quota, shortfall } = await slow.settle(costing("3.5", units));
    const paid = what === "money" ? ["3.50", 0n] : ["0.00", 20n];
    assert.deepEqual([isFirst, taken, quota, shortfall], [true, ...paid, "0.00"]);
    await nodes.mustBeSound();
  });

  Deno.test(`a settlement above its hold waits for ${what} that is only reserved`, async () => {
    await using scene = await openScene(plan);
    const { nodes, slow } = scene;
    await scene.takeFree();
    const { shortfall } = await slow.settle(costing("5", units));
    assert.equal(shortfall, "0.00");
    await nodes.mustBeSound();
  });
}

Deno.test("a late settlement that reserves do not come back for is booked with a shortfall", async () => {
  await using scene = await openScene();
  const { nodes, account, slow } = scene;
  await scene.expire(1);
  await sweep(scene);
  await scene.takeFree();
  nodes.nodes[0]!.kill();
  const startedAt = performance.now();
  const { taken, shortfall } = await slow.settle(costing("3", 1));
  assert.deepEqual([taken, shortfall], ["0.00", "3.00"]);
  assert.ok(performance.now() - startedAt < 2_500);
  await nodes.mustBeSound();
  assert.ok(Number(await nodes.reserved(account)) >= 10);
});

Deno.test("nodes of earlier builds settle late without waiting", async () => {
  await using scene = await openScene();
  await scene.expire(1);
  await sweep(scene);
  await scene.takeFree();
  const item = settleItem(scene.slow.id, costing("3", 1), scene.account);
  const { outcome, shortfall } = await runLate(scene.nodes.sql, { ...item, may_wait: true });
  assert.deepEqual([outcome, Number(shortfall)], ["resolved", 3]);
});

Deno.test("a hold that has just expired waits for what is only reserved, and the next sweep bills it", async () => {
  await using scene = await openScene();
  const { nodes, account, slow } = scene;
  await slow.checkpoint(costing("5", 1));
  await scene.takeFree();
  await scene.expire(1);
  assert.equal((await sweep(scene)).holds, 0);
  assert.equal(await scene.receipt(), null);
  await until("the reserve is returned", async () => await nodes.reserved(account) === "0", 2);
  assert.equal((await sweep(scene)).holds, 1);
  assert.deepEqual(await scene.receipt(), { taken: 5, shortfall: 0 });
  await nodes.mustBeSound();
});

Deno.test("a hold that expired long ago is billed with a shortfall", async () => {
  await using scene = await openScene();
  await scene.slow.checkpoint(costing("5", 1));
  await scene.takeFree();
  await scene.expire(11);
  assert.equal((await sweep(scene)).holds, 1);
  assert.deepEqual(await scene.receipt(), { taken: 3, shortfall: 2 });
  await scene.nodes.mustBeSound();
});
