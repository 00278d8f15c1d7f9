import assert from "node:assert/strict";
import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import { currencyGuard } from "./currency.ts";

const config = (currency: string) => ({ service: { currency } }) as Config;

/** What the guard says to a change, when the database answers this. */
async function check(
  answer: { code: string; obstacle: string | null } | Error,
  to: string,
  from: string | null,
) {
  let queries = 0;
  const sql = () => {
    queries++;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve([answer]);
  };
  const guard = currencyGuard(sql as unknown as Queries, "node_1");
  const [problem = null] = await guard(config(to), from === null ? null : config(from));
  return { problem, queries };
}

Deno.test("the currency that is served already is not asked for again", async () => {
  const free = { code: "EUR", obstacle: null };
  assert.deepEqual(await check(free, "EUR", "EUR"), { problem: null, queries: 0 });
  assert.deepEqual(await check(free, "EUR", "USD"), { problem: null, queries: 1 });
  assert.deepEqual(await check(free, "EUR", null), { problem: null, queries: 1 });
});

Deno.test("another currency is refused where something is booked, or other nodes serve the old one", async () => {
  const booked = await check({ code: "USD", obstacle: "bookings" }, "EUR", "USD");
  assert.deepEqual(booked.problem?.path, ["service", "currency"]);
  assert.match(booked.problem!.message, /is in USD: balances .* read as EUR/);
  assert.match(booked.problem!.suggestion!, /Declare USD, or .* empty database for EUR/);
  const shared = await check({ code: "USD", obstacle: "nodes" }, "EUR", null);
  assert.deepEqual(shared.problem?.path, ["service", "currency"]);
  assert.match(shared.problem!.message, /still serve it in USD/);
  assert.match(shared.problem!.suggestion!, /Stop them all, then start with EUR/);
});

Deno.test("without the database a start fails, a reload is refused", async () => {
  const away = new Error("away");
  await assert.rejects(check(away, "EUR", null), away);
  const { problem } = await check(away, "EUR", "USD");
  assert.deepEqual(problem?.path, ["service", "currency"]);
  assert.match(problem!.message, /could not be asked whether it may be in EUR/);
  assert.match(problem!.suggestion!, /Reload when/);
});
