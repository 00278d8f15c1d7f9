import assert from "node:assert/strict";
import { asking, costing, openLedger } from "../../../test/helpers/open_ledger.ts";
import { adjustBalance } from "./credit.ts";
import { listCreditGrants, listMovements } from "./movements.ts";

const START = "2026-01-31T12:00:00Z";
const LATER = "2026-02-02T12:00:00Z";

Deno.test("movements are listed newest first, by page, by time and of one account only", async () => {
  await using ledger = await openLedger({ cash: "5", clock: START });
  const { sql, account } = ledger;
  await ledger.setPlan("pro");
  await ledger.setClock(LATER);
  const hold = await ledger.hold(asking({ id: "req_1", account, amount: "2" }));
  await hold.settle(costing("1.5"));
  await adjustBalance(sql, { account, amount: "-0.25", reference: "fix", reason: "refund" });
  const other = await ledger.newAccount("9");

  const list = async (more: Partial<Parameters<typeof listMovements>[1]> = {}) =>
    await listMovements(sql, { account, limit: 10, ...more });
  const { data, hasMore } = await list();
  assert.equal(hasMore, false);
  const shown = data.map(({ kind, unit, amount, source }) =>
    [kind, unit, amount, source].join(" ")
  );
  assert.deepEqual(shown.slice(0, 2).sort(), [
    "adjustment money -0.25 cash",
    "capture money -1.50 cash",
  ]);
  assert.deepEqual(shown.slice(2).sort(), [
    "credit money 5.00 cash",
    "grant image 10 quota",
    "grant text 1000 quota",
    "grant video 60 quota",
  ]);
  const capture = data.find(({ kind }) => kind === "capture")!;
  assert.deepEqual([capture.request_id, capture.model, capture.at.toISOString()], [
    "req_1",
    "sim-chat",
    "2026-02-02T12:00:00.000Z",
  ]);
  const adjusted = data.find(({ kind }) => kind === "adjustment")!;
  assert.deepEqual([adjusted.reference, adjusted.reason, adjusted.request_id], [
    "fix",
    "refund",
    null,
  ]);

  const ids: string[] = [];
  while (true) {
    const page = await list({ limit: 4, after: ids.at(-1) });
    ids.push(...page.data.map(({ id }) => id));
    if (!page.hasMore) break;
    assert.equal(page.data.length, 4);
  }
  assert.deepEqual(ids, data.map(({ id }) => id));
  assert.equal((await list({ limit: 6 })).hasMore, false, "exactly a page");
  assert.equal((await list({ from: new Date(LATER) })).data.length, 2);
  assert.equal((await list({ to: new Date(LATER) })).data.length, 4);
  await assert.rejects(list({ after: "none" }), { code: "not_found" });
  const [others] = (await listMovements(sql, { account: other, limit: 1 })).data;
  await assert.rejects(list({ after: others!.id }), { code: "not_found" });
});

Deno.test("grants are listed in the order of use, while something is left of them", async () => {
  await using ledger = await openLedger({ cash: "5", clock: START });
  const { sql, account } = ledger;
  await ledger.gift("2.50", "2026-02-10T00:00:00Z");
  await ledger.gift("1.00", "2026-02-01T00:00:00Z");
  await ledger.setPlan("team");
  await ledger.hold(asking({ account, amount: "0.40" }));
  const grants = async () =>
    (await listCreditGrants(sql, account)).map(({ source, unit, granted, remaining, frozen }) =>
      [source, unit, granted, remaining, frozen].join(" ")
    );
  assert.deepEqual(await grants(), [
    "quota text 5000 5000 0",
    "gift money 1.00 1.00 0.40",
    "gift money 2.50 2.50 0.00",
  ]);
  await ledger.setClock(LATER);
  assert.deepEqual(await grants(), ["quota text 5000 5000 0", "gift money 2.50 2.50 0.00"]);
});
