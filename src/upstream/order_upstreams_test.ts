import assert from "node:assert/strict";
import { hashText } from "../lib/hash_text.ts";
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

const namesOf = (upstreams: readonly Upstream[]) => upstreams.map(({ provider }) => provider);

Deno.test("lower priorities come first, whatever the weights", () => {
  const all = [upstream("a", 0, 1), upstream("b", 0, 1), upstream("c", 1, 1000)];
  for (let i = 0; i < 100; i++) {
    assert.equal(orderUpstreams(all).at(-1)!.provider, "c");
    assert.equal(orderUpstreams(all, i).at(-1)!.provider, "c");
  }
});

Deno.test("equals are chosen by weight, at random and by pins, and every one is tried in the end", () => {
  const all = [upstream("a", 0, 3), upstream("b", 0, 1)];
  for (const pinOf of [() => null, (at: number) => hashText(`conversation ${at}`)]) {
    let first = 0;
    for (let i = 0; i < 10_000; i++) {
      const order = orderUpstreams(all, pinOf(i));
      assert.equal(order.length, 2);
      if (order[0]!.provider === "a") first++;
    }
    assert.ok(first > 7_300 && first < 7_700, String(first));
  }
});

Deno.test("the second of a pinned order is chosen by weight too, so that an outage spreads", () => {
  const all = [upstream("a", 0, 1), upstream("b", 0, 3), upstream("c", 0, 1)];
  const seconds: string[] = [];
  for (let i = 0; i < 20_000; i++) {
    const [first, second] = namesOf(orderUpstreams(all, hashText(String(i))));
    if (first === "a") seconds.push(second!);
  }
  const share = seconds.filter((name) => name === "b").length / seconds.length;
  assert.ok(share > 0.72 && share < 0.78, String(share));
});

Deno.test("a pin gives one order, and an upstream that is added or removed leaves the order of the others", () => {
  const all = ["a", "b", "c", "d"].map((name, at) => upstream(name, 0, at + 1));
  for (let pin = 0; pin < 200; pin++) {
    const order = namesOf(orderUpstreams(all, pin));
    assert.deepEqual(namesOf(orderUpstreams(all.toReversed(), pin)), order);
    const without = namesOf(orderUpstreams(all.filter(({ provider }) => provider !== "b"), pin));
    assert.deepEqual(without, order.filter((name) => name !== "b"));
  }
});
