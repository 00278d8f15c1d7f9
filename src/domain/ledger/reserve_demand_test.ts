import assert from "node:assert/strict";
import { ReserveDemand } from "./reserve_demand.ts";

const amounts = (money: bigint) => ({ money, units: 10n * money });

Deno.test("eight requests within two seconds are worth a reserve", () => {
  const demand = new ReserveDemand(8);
  for (let at = 0; at < 7; at++) demand.begin(amounts(5n), false, 1_000 + at);
  assert.equal(demand.isWorthReserve(1_900), false);
  demand.begin(amounts(5n), false, 2_500);
  assert.equal(demand.isWorthReserve(2_500), true);
  assert.equal(demand.isWorthReserve(6_000), false, "long ago");
});

Deno.test("the target is two seconds of spending, what runs at one time, and some to spare", () => {
  const demand = new ReserveDemand(8);
  demand.begin(amounts(5n), true, 1_000);
  demand.begin(amounts(3n), true, 1_000);
  assert.deepEqual(demand.worst(1_000), amounts(5n));
  assert.deepEqual(demand.target(1_000), amounts(8n + 4n * 5n));
  demand.end(amounts(5n), amounts(2n), 1_100);
  assert.deepEqual(demand.target(1_100), amounts(8n + 2n * 2n + 4n * 5n));
  // A request that found no room counts too.
  demand.begin(amounts(4n), false, 1_200);
  assert.deepEqual(demand.target(1_200), amounts(8n + 2n * 2n + 5n * 5n));
});

Deno.test("what was seconds ago does not count, except what still runs", () => {
  const demand = new ReserveDemand(8);
  demand.begin(amounts(5n), true, 1_000);
  demand.begin(amounts(7n), true, 1_000);
  demand.end(amounts(7n), amounts(1n), 1_001);
  assert.deepEqual(demand.target(9_000), amounts(5n));
  assert.deepEqual(demand.worst(9_000), amounts(0n));
});
