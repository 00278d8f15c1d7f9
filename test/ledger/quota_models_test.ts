import assert from "node:assert/strict";
import fc from "fast-check";
import { withinQuota } from "../../src/domain/pricing/quota_models.ts";
import type { AccountPlan } from "../../src/platform/config/config.ts";
import { fraction } from "../../src/lib/money.ts";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-03-01T12:00:00Z";
const MODELS = ["a", "b", "c"];

/** A request for so many units at one cent each, of which so many are used in the end; null: it fails. */
const step = fc.record({
  model: fc.constantFrom(...MODELS),
  units: fc.integer({ min: 1, max: 400 }),
  used: fc.option(fc.integer({ min: 0, max: 100 })),
});

Deno.test(
  "random requests take from a quota for chosen models and from cash as a simple model says",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    const run = async (
      chosen: string[],
      steps: { model: string; units: number; used: number | null }[],
    ) => {
      const account = await ledger.newAccount("15");
      await ledger.setPlan("pro", undefined, account); // 1000 tokens of text
      const quotaModels = { text: new Set(chosen) };
      const config = { plans: new Map([["pro", { quotaModels } as unknown as AccountPlan]]) };
      let [quota, cents] = [1000, 1500];
      for (const { model, units, used } of steps) {
        const asked = asking({ account, amount: `${units / 100}`, units, kind: "text" });
        const quote = withinQuota(config, "pro", { ...asked.quote, model });
        const available = chosen.includes(model) ? quota : 0;
        const isCovered = units - Math.min(available, units) <= cents;
        const held = await ledger.hold({ ...asked, quote }).then((hold) => hold.keep(), () => null);
        assert.equal(held !== null, isCovered);
        if (held === null) continue;
        if (used === null) {
          await held.release();
          continue;
        }
        const taken = Math.min(units, Math.ceil(units * used / 100));
        await held.settle(costing(fraction(`${taken / 100}`), quote.kind === null ? 0 : taken));
        const fromQuota = Math.min(available, taken);
        quota -= fromQuota;
        cents -= taken - fromQuota;
      }
      const { quotas, available_balance } = await ledger.balance(account);
      assert.deepEqual([quotas.text, Math.round(Number(available_balance) * 100)], [quota, cents]);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(MODELS, { minLength: 1 }),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        run,
      ),
      { numRuns: 40 },
    );
    await ledger.mustBeSound();
  },
);
