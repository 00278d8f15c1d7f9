import assert from "node:assert/strict";
import { modelFilter, requireKnownModels, toColumns } from "./key_restrictions.ts";

Deno.test("a filter matches ids, and patterns in which * is any text", () => {
  const allows = modelFilter(["gpt-5", "claude-*", "*-mini", "a*b*c"]);
  const allowed = ["gpt-5", "claude-", "claude-sonnet", "o4-mini", "-mini", "abc", "a-b-b-c"];
  for (const model of allowed) assert.ok(allows(model), model);
  const refused = ["gpt-5o", "gpt", "Claude-x", "mini", "o4-mini-x", "ab", "acb", "abcd"];
  for (const model of refused) assert.ok(!allows(model), model);
  assert.ok(modelFilter(["*"])("anything"));
  assert.ok(!modelFilter(["ab*ba"])("aba"), "begin and end do not share letters");
  assert.ok(!modelFilter(["a*bc*c"])("abc"), "nor do the middle and the end");
});

Deno.test("an entry that no model matches is refused", () => {
  const known = new Map([["gpt-5", 1], ["claude-sonnet", 1]]);
  requireKnownModels(known, ["gpt-5", "claude-*"]);
  requireKnownModels(known, null);
  assert.throws(() => requireKnownModels(known, ["gpt-5", "gemini-*"]), { param: "models" });
});

Deno.test("only given restrictions become columns; an empty list is none", () => {
  assert.deepEqual(toColumns({}), {});
  assert.deepEqual(toColumns({ models: [], limits: null, budget: null, allowed_ips: null }), {
    models: null,
    requests_per_minute: null,
    tokens_per_minute: null,
    budget_amount: null,
    budget_period: null,
    allowed_ips: null,
  });
  assert.deepEqual(toColumns({ limits: { tokens_per_minute: 5 }, log_bodies: false }), {
    requests_per_minute: null,
    tokens_per_minute: 5,
    log_bodies: false,
  });
});

Deno.test("a time that is over, a network that is none and a budget of nothing are refused", () => {
  const refused = [
    [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    [{ allowed_ips: ["10.0.0.0/40"] }, "allowed_ips"],
    [{ budget: { amount: "0.00", period: "day" } }, "budget.amount"],
  ] as const;
  for (const [given, param] of refused) {
    const restrictions = structuredClone(given) as Parameters<typeof toColumns>[0];
    assert.throws(() => toColumns(restrictions), { code: "invalid_value", param });
  }
});
