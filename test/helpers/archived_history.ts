import { addCredit, adjustBalance } from "../../src/domain/ledger/credit.ts";
import { newId } from "../../src/lib/ids.ts";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import { openArchives } from "./archives.ts";
import { asking, costing, openLedger, type TestLedger } from "./open_ledger.ts";

/** The last moment of January, then the first ones of February. */
const JANUARY_ENDS = "2026-01-31T23:59:59.500Z";
export const NOW = "2026-05-10T12:00:00Z";

interface Request {
  accepted: string;
  settled?: string;
  amount?: string;
}

/** A request that costs something, accepted and settled at two moments. */
async function charge(
  ledger: TestLedger,
  { accepted, settled = accepted, amount = "1" }: Request,
): Promise<string> {
  await ledger.setClock(accepted);
  const id = newId("req", Date.parse(accepted));
  const hold = (await ledger.hold(asking({ id, account: ledger.account, amount: "2" }))).keep();
  await ledger.setClock(settled);
  await hold.settle(costing(amount, 0, { input_tokens: 3 }));
  return id;
}

/** One that its process gives up on, the sweeper resolves, and the process settles after all in the next month. */
async function chargeLate(ledger: TestLedger, accepted: string, late: string): Promise<void> {
  await ledger.setClock(accepted);
  const id = newId("req", Date.parse(accepted));
  const request = { ...asking({ id, account: ledger.account, amount: "1", ttlSeconds: 60 }) };
  const hold = (await ledger.hold({ ...request, beyondHold: true })).keep();
  await hold.checkpoint(costing("0.25"));
  await ledger.setClock(new Date(Date.parse(accepted) + 120_000).toISOString());
  await ledger.sweep();
  await ledger.setClock(late);
  await hold.settle(costing("200"));
}

/** January, February and May of one account, with everything that a ledger can have. */
export async function openHistory() {
  await using parts = new AsyncDisposableStack();
  const ledger = parts.use(await openLedger({ clock: "2026-01-05T00:00:00Z" }));
  const archives = parts.use(await openArchives(ledger));
  const { account, sql } = ledger;
  await addCredit(sql, { account, kind: "cash", amount: "50", reference: "first" });
  await adjustBalance(sql, { account, amount: "-1", reference: "fee", reason: 'a, "b"\nc' });
  await ledger.gift("5", "2026-02-10T00:00:00Z");
  await ledger.setPlan("pro");
  const january = await charge(ledger, { accepted: "2026-01-10T00:00:00Z", amount: "1.75" });
  await sql`
    insert into receipt_part (receipt_id, position, stage, model, upstream, amount, cost) values
      (${january}, 1, 'script', 'gpt-fast', 'openai/gpt', 0.25, 0.125),
      (${january}, 2, 'shots', 'runway-gen', 'runway/gen', 1, null),
      (${january}, 3, 'drama', 'test-drama', null, 0.5, 0)`;
  await charge(ledger, { accepted: JANUARY_ENDS, settled: "2026-02-01T00:00:01Z" });
  // A node's clock that is fast: its id is of February, and the database books it in January.
  await ledger.setClock(JANUARY_ENDS);
  const fast = newId("req", Date.parse("2026-02-01T00:00:00Z"));
  await (await ledger.hold(asking({ id: fast, account, amount: "2" }))).settle(costing("0.5"));
  await chargeLate(ledger, "2026-01-31T23:50:00Z", "2026-02-02T00:00:00Z");
  await addCredit(sql, { account, kind: "cash", amount: "30", reference: "second" });
  await charge(ledger, { accepted: "2026-02-20T00:00:00Z" });
  await ledger.setClock(NOW);
  await ledger.sweep();
  const may = await charge(ledger, { accepted: NOW });
  await createMissingPartitions(sql, { isStart: true });
  await ledger.mustBeSound();
  const closing = parts.move();
  return {
    ledger,
    archives,
    sql,
    account,
    january,
    may,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

export type TestHistory = Awaited<ReturnType<typeof openHistory>>;
