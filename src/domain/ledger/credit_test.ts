import assert from "node:assert/strict";
import { openLedger } from "../../../test/helpers/open_ledger.ts";
import type { Queries } from "../../platform/database/database.ts";
import { addCredit, adjustBalance } from "./credit.ts";
import { listCreditGrants } from "./movements.ts";

const START = "2026-01-31T12:00:00Z";

Deno.test("400 and 404 of credits and adjustments name what is wrong", async () => {
  await using ledger = await openLedger({ cash: "1", clock: START });
  const { sql, account } = ledger;
  const credit = (more: Partial<Parameters<typeof addCredit>[1]>) =>
    addCredit(sql, { account, kind: "gift", amount: "1", reference: "r", ...more });
  for (const amount of ["0", "-1", "x", "0.000000000000"]) {
    await assert.rejects(credit({ amount }), { code: "invalid_value", param: "amount" });
  }
  const soon = new Date("2026-03-01");
  await assert.rejects(credit({ kind: "cash", expiresAt: soon }), { param: "expires_at" });
  await assert.rejects(credit({ expiresAt: new Date("2026-01-01") }), {
    code: "invalid_value",
    param: "expires_at",
  });
  await assert.rejects(credit({ account: "acc_none" }), { code: "not_found" });
  assert.deepEqual(await credit({ expiresAt: soon }), { isFirst: true });
  assert.deepEqual(await credit({ expiresAt: soon }), { isFirst: false });
  await credit({ amount: "0.000000000001", reference: "tiny" });
  const grants = await listCreditGrants(sql, account);
  assert.equal(grants.length, 2);
  for (const { id } of grants) assert.match(id, /^gift:grant_/);
  await assert.rejects(credit({ amount: "2" }), { code: "invalid_value", param: "reference" });
  const much = "9".repeat(20);
  await credit({ kind: "cash", amount: much, reference: "much" }).catch(() => {});
  await assert.rejects(credit({ kind: "cash", amount: much, reference: "more" }), {
    code: "invalid_value",
    param: "amount",
  });

  const adjust = (more: Partial<Parameters<typeof adjustBalance>[1]>, of = account) =>
    adjustBalance(sql, { account: of, amount: "-1", reference: "a", reason: "why", ...more });
  const poor = await ledger.newAccount("1");
  for (const amount of ["0", "x", "0.00"]) {
    await assert.rejects(adjust({ amount }), { code: "invalid_value", param: "amount" });
  }
  await assert.rejects(adjust({ amount: "-1.01" }, poor), {
    code: "insufficient_balance",
    param: "amount",
  });
  assert.deepEqual(await adjust({ amount: "-0.000000000001" }, poor), { isFirst: true });
  assert.deepEqual(await adjust({ amount: "-0.000000000001" }, poor), { isFirst: false });
  await assert.rejects(adjust({ amount: "0.5" }, poor), { param: "reference" });
  await assert.rejects(adjust({}, "acc_none"), { code: "not_found" });
  await assert.rejects(adjust({ amount: much, reference: "b" }), { param: "amount" });
});

Deno.test("an error of the database goes through as it is", async () => {
  const failure = Object.assign(new Error("shut down"), { code: "57P01" });
  const sql = (() => Promise.reject(failure)) as unknown as Queries;
  const booking = { account: "acc_1", amount: "1", reference: "r" };
  await assert.rejects(addCredit(sql, { ...booking, kind: "cash" }), failure);
  await assert.rejects(adjustBalance(sql, { ...booking, reason: "why" }), failure);
});
