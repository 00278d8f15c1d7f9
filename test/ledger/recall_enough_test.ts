import assert from "node:assert/strict";
import fc from "fast-check";
import { holdItem, type HoldRequest } from "../../src/domain/ledger/hold.ts";
import { type Outcome, runItem, runLate } from "../../src/domain/ledger/item.ts";
import { settleItem } from "../../src/domain/ledger/settle.ts";
import type { QuotaShare } from "../../src/domain/pricing/quote.ts";
import { fraction } from "../../src/lib/money.ts";
import type { Queries } from "../../src/platform/database/database.ts";
import type { UsageKind } from "../../src/model_types/usage.ts";
import { isShort } from "../helpers/ledger_looks.ts";
import { asking, costing, openLedger, type TestLedger } from "../helpers/open_ledger.ts";
import { propertyRuns } from "../helpers/property_runs.ts";
import { openReserveNodes } from "../helpers/reserve_nodes.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const KINDS = ["text", "image", "video"] as const;

type Shares = { [kind in UsageKind]?: [units: number, amount: string] };

/** For quotas of several kinds, and money for the rest of the amount. */
function askingShares(account: string, amount: string, shares: Shares): HoldRequest {
  const request = asking({ account, amount });
  const given: QuotaShare[] = Object.entries(shares).map(([kind, [units, price]]) => ({
    kind: kind as UsageKind,
    units: BigInt(units),
    amount: fraction(price),
  }));
  return { ...request, quote: { ...request.quote, shares: given } };
}

Deno.test("a request with shares gets the quota that a node has only reserved", async () => {
  await using nodes = await openReserveNodes(2);
  const [busy, other] = nodes.nodes;
  const account = await nodes.newAccount("1");
  await nodes.setPlan(account, "team"); // 5,000 tokens
  for (let at = 0; at < 12; at++) await busy!.warm(account, "0.1", 10);
  const reserved = await nodes.reserved(account);
  assert.notEqual(reserved, "0");
  // Money for 100 tokens, quota for the others.
  const tooMuch = askingShares(account, "51.01", { text: [5_101, "51.01"] });
  await assert.rejects(other!.ledger.hold(tooMuch), isShort);
  assert.equal(await nodes.reserved(account), reserved, "nothing is recalled in vain");
  const hold = await other!.ledger.hold(askingShares(account, "51", { text: [5_100, "51"] }));
  const { quotas, available_balance } = await nodes.balance(account);
  assert.deepEqual([quotas.text, available_balance], [0, "0.00"]);
  await hold.release();
  await nodes.mustBeSound();
});

/** Reserves so many percent of what each bucket has free, as a node does. */
async function reserve({ sql, account }: TestLedger, percents: Record<string, number>) {
  await sql`
    with part as (
      select id, trunc((remaining - frozen) * (${
    JSON.stringify(percents)
  }::text::json ->> unit)::numeric / 100) as amount
        from balance_bucket where account_id = ${account} and is_open and ended_at is null),
    frozen as (
      update balance_bucket b set frozen = frozen + amount from part p where b.id = p.id)
    insert into reserve (id, account_id, node_id, renewal, allocations, held, drawn, lease_ms, expires_at)
    select 'rsv_test', ${account}, 'node_test', 1, array_agg(id), array_agg(amount), array_agg(0), 6000,
           ledger_now() + interval '6 seconds'
      from part where amount > 0 having count(*) > 0`;
}

/** Answers whether they were recalled. */
async function returnReserves({ sql, account }: TestLedger): Promise<boolean> {
  const recalled = await sql`select from reserve where recalled_at is not null`;
  await sql`update reserve set expires_at = ledger_now()`;
  await sql`select ledger_sweep_reserves(100, ${account})`;
  return recalled.length > 0;
}

/** With new quotas, and so much cash. */
async function refill({ sql, account, setPlan }: TestLedger, cash: number) {
  await setPlan("free");
  await setPlan("pro"); // 1,000 tokens, 10 images, 60 seconds
  await sql`update balance_bucket set remaining = ${cash} where id = ${`cash:${account}`}`;
}

const percent = fc.constantFrom(0, 1, 30, 50, 100);
const reserved = fc.record({ text: percent, image: percent, video: percent, money: percent });
const cents = fc.integer({ min: 1, max: 1_000 }).map((count) => (count / 100).toFixed(2));
/** Around what the plan has. */
const share = (quota: number) =>
  fc.option(fc.tuple(fc.integer({ min: 1, max: 2 * quota }), cents), { nil: undefined });
const shares = fc.record({ text: share(1_000), image: share(10), video: share(60) });
const oneKind = fc.record({ kind: fc.constantFrom(...KINDS), units: fc.nat(1_500) });

Deno.test(
  "a hold is refused for ever only if it would also be refused with all that is reserved",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "1", clock: "2026-01-31T12:00:00Z" });
    const { sql, account } = ledger;
    let waited = 0;
    const property = fc.asyncProperty(
      fc.record({ reserved, cash: fc.nat(20), rest: cents, asked: fc.oneof(shares, oneKind) }),
      async ({ reserved, cash, rest, asked }) => {
        await refill(ledger, cash);
        await reserve(ledger, reserved);
        const request = "kind" in asked
          ? asking({ account, amount: rest, ...asked })
          : askingShares(account, totalOf(asked, rest), withoutGaps(asked));
        const item = holdItem(request, 6);
        const first = await runItem(sql, item);
        assert.equal(await returnReserves(ledger), typeof first.retry_ms === "number");
        const { outcome } = await runItem(sql, item);
        const isPayable = first.outcome !== "insufficient" || first.retry_ms !== null;
        assert.equal(outcome !== "insufficient", isPayable, JSON.stringify(first));
        if (typeof first.retry_ms === "number") waited++;
        await sql`delete from hold`;
        await sql`update balance_bucket set frozen = 0`;
      },
    );
    await fc.assert(property, propertyRuns(150));
    assert.ok(waited > 5, `${waited} of them waited`);
  },
);

const undone = new Error("What was tried is undone");

/** What would be answered; nothing of it stays. */
async function answerOf(
  { sql }: TestLedger,
  ask: (sql: Queries) => Promise<Outcome>,
): Promise<Outcome> {
  let answer: Outcome | undefined;
  await assert.rejects(
    sql.begin(async (tx) => {
      answer = await ask(tx);
      throw undone;
    }),
    undone,
  );
  return answer!;
}

for (const isLate of [false, true]) {
  Deno.test(
    `a ${
      isLate ? "late " : ""
    }settlement records a shortfall only if it would also with all that is reserved`,
    STRICT,
    async () => {
      await using ledger = await openLedger({ cash: "1", clock: "2026-01-31T12:00:00Z" });
      const { sql, account } = ledger;
      let waited = 0;
      const property = fc.asyncProperty(
        fc.record({
          reserved,
          cash: fc.nat(20),
          asked: oneKind,
          held: cents,
          used: fc.nat(1_500),
          cost: cents,
        }),
        async ({ reserved, cash, asked, held, used, cost }) => {
          await refill(ledger, cash);
          const request = { ...asking({ account, amount: held, ...asked }), beyondHold: true };
          const { outcome } = await runItem(sql, holdItem(request, 6));
          if (outcome !== "held") return;
          if (isLate) {
            await sql`update hold set expires_at = ledger_now()`;
            await sql`select ledger_sweep_holds(10)`;
          }
          await reserve(ledger, reserved);
          const item = settleItem(request.id, costing(cost, used), account);
          const settle = (tx: Queries) =>
            isLate ? runLate(tx, item, true) : runItem(tx, { ...item, may_wait: true });
          const first = await answerOf(ledger, settle);
          await returnReserves(ledger);
          const { shortfall } = await answerOf(ledger, settle);
          const waits = first.outcome === "insufficient";
          if (waits) waited++;
          if (!waits && Number(first.shortfall) > 0) assert.ok(Number(shortfall) > 0);
          // What money was held for before a sweep, quota does not pay for.
          if (waits && !isLate) assert.equal(Number(shortfall), 0);
          await sql`delete from hold`;
          await sql`update balance_bucket set frozen = 0`;
        },
      );
      await fc.assert(property, propertyRuns(150));
      assert.ok(waited > 5, `${waited} of them waited`);
    },
  );
}

function withoutGaps(asked: Record<string, [number, string] | undefined>): Shares {
  return Object.fromEntries(Object.entries(asked).filter(([, given]) => given !== undefined));
}

function totalOf(asked: Record<string, [number, string] | undefined>, rest: string): string {
  const prices = Object.values(asked).map((given) => Number(given?.[1] ?? 0));
  return prices.reduce((sum, price) => sum + price, Number(rest)).toFixed(2);
}
