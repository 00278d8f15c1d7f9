import assert from "node:assert/strict";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";
import { money } from "../helpers/ledger_looks.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

Deno.test(
  "the sweeper releases expired holds, and a late settlement corrects the receipt",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const { id } =
      (await ledger.hold(asking({ account: ledger.account, amount: "3", ttlSeconds: 60 }))).keep();
    await ledger.setClock("2026-01-31T12:00:59Z");
    assert.equal((await ledger.sweep()).holds, 0);
    await ledger.setClock("2026-01-31T12:01:00Z");
    assert.equal((await ledger.sweep()).holds, 1);
    assert.equal((await findReceipt(ledger.sql, ledger.account, id, "USD"))!.status, "expired");
    assert.equal((await money(ledger)).available, "10.00");
    const late = await ledger.settle(id, costing("1"));
    assert.deepEqual([late.state, late.isFirst, late.taken], ["settled", true, "1.00"]);
    assert.equal((await money(ledger)).available, "9.00");
    await ledger.mustBeSound();
  },
);

Deno.test(
  "an expired hold with a checkpoint is settled by its last checkpoint",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const hold =
      (await ledger.hold(asking({ account: ledger.account, amount: "3", ttlSeconds: 60 }))).keep();
    await hold.checkpoint(costing("0.5", 0, { output_tokens: 50 }));
    await hold.checkpoint(costing("0.75", 0, { output_tokens: 75, estimated: true }));
    assert.equal((await money(ledger)).frozen, "3.00");
    await ledger.setClock("2026-01-31T12:02:00Z");
    await ledger.sweep();
    const receipt = await findReceipt(ledger.sql, ledger.account, hold.id, "USD");
    assert.deepEqual([receipt!.status, receipt!.settled], ["settled", "0.75"]);
    assert.deepEqual(receipt!.usage, { output_tokens: 75, estimated: true });
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a checkpoint that cannot be settled is rejected, so that it cannot stop the sweeper",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const hold =
      (await ledger.hold(asking({ account: ledger.account, amount: "3", ttlSeconds: 60 }))).keep();
    await assert.rejects(hold.checkpoint(costing({ num: 10n ** 21n, den: 1n })), /overflow/);
    await ledger.setClock("2026-02-01T00:00:00Z");
    assert.equal((await ledger.sweep()).holds, 1);
    await ledger.mustBeSound();
  },
);

Deno.test("sweepers on many nodes at once resolve every hold once", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100", clock: START });
  await Promise.all(
    Array.from(
      { length: 50 },
      async () =>
        (await ledger.hold(asking({ account: ledger.account, amount: "1", ttlSeconds: 60 })))
          .keep(),
    ),
  );
  await ledger.setClock("2026-02-01T00:00:00Z");
  const swept = await Promise.all(Array.from({ length: 5 }, () => ledger.sweep()));
  assert.equal(swept.reduce((sum, { holds }) => sum + holds, 0), 50);
  assert.equal((await money(ledger)).available, "100.00");
  await ledger.mustBeSound();
});
