import assert from "node:assert/strict";
import type { Upstream } from "../platform/config/config.ts";
import { orderUpstreams } from "./order_upstreams.ts";

const upstream = (provider: string, priority: number, weight: number): Upstream => ({
  provider,
  model: provider,
  priority,
  weight,
  timeoutSeconds: 1,
  cost: null,
});

Deno.test("lower priorities come first, whatever the weights", () => {
  const all = [upstream("a", 0, 1), upstream("b", 0, 1), upstream("c", 1, 1000)];
  for (let i = 0; i < 100; i++) assert.equal(orderUpstreams(all).at(-1)!.provider, "c");
});

Deno.test("equals are chosen by weight, and every one is tried in the end", () => {
  const all = [upstream("a", 0, 3), upstream("b", 0, 1)];
  let first = 0;
  for (let i = 0; i < 10_000; i++) {
    const order = orderUpstreams(all);
    assert.equal(order.length, 2);
    if (order[0]!.provider === "a") first++;
  }
  assert.ok(first > 7_200 && first < 7_800, String(first));
});
