import assert from "node:assert/strict";
import type { Sql } from "postgres";
import { verifyLedger } from "./verify.ts";

const RULES = [
  "transfers of each unit sum to zero",
  "every balance equals its transfers",
  "nothing is negative",
  "frozen equals open holds and reserves",
  "a reserve is its draws and what is left",
  "ended buckets are empty except for what is frozen",
  "captured is at most held",
  "every capture of a batch equals its receipts",
  "a hold resolves once",
  "what every key spent equals its receipts",
  "totals of archived months equal their archives",
  "every account is on one plan",
];

Deno.test("every rule is checked on one snapshot, with what is wrong and where", async () => {
  const modes: string[] = [];
  const tx = () => Promise.resolve([{ seen: "5", wrong: "0", examples: null }]);
  const sql = {
    begin: (mode: string, work: (sql: unknown) => unknown) => {
      modes.push(mode);
      return work(tx);
    },
  } as unknown as Sql;
  const sound = await verifyLedger(sql);
  assert.deepEqual(sound, {
    ok: true,
    checks: RULES.map((name) => ({ name, ok: true, detail: "5 checked" })),
  });
  assert.deepEqual(modes, ["isolation level repeatable read read only"]);

  const rule = (name: string, wrong: string, examples: string[] | null) => ({
    name,
    run: () => Promise.resolve([{ seen: "9", wrong, examples }]),
  });
  const more = [rule("a", "2", ["x", "y"]), rule("b", "0", null), rule("c", "1", null)];
  const { ok, checks } = await verifyLedger(sql, more);
  assert.equal(ok, false);
  assert.deepEqual(checks.slice(RULES.length), [
    { name: "a", ok: false, detail: "2 of 9 are wrong: x; y" },
    { name: "b", ok: true, detail: "9 checked" },
    { name: "c", ok: false, detail: "1 of 9 are wrong: " },
  ]);
});
