import assert from "node:assert/strict";
import { FairQueue } from "./fair_queue.ts";

Deno.test("clients are served round robin, known ones first, and a full queue drops from the longest", () => {
  const dropped: string[] = [];
  const queue = new FairQueue<string>({ perClient: 3, total: 5 }, (entry) => dropped.push(entry));
  for (const entry of ["a1", "a2", "a3"]) assert.equal(queue.push({ client: "a" }, entry), true);
  assert.equal(queue.push({ client: "a" }, "a4"), false, "no more of one client");
  assert.equal(queue.push({ client: "b" }, "b1"), true);
  assert.equal(queue.push({ client: "c" }, "c1"), true);
  assert.equal(queue.push({ client: "d" }, "d1"), true, "a flood makes place");
  assert.equal(queue.push({ client: "k", isKnown: true }, "k1"), true);
  assert.deepEqual(dropped, ["a3", "a2"]);
  assert.equal(queue.push({ client: "e" }, "e1"), false, "no client has more than one entry");
  const order = Array.from({ length: 6 }, () => queue.shift());
  assert.deepEqual(order, ["k1", "a1", "b1", "c1", "d1", undefined]);

  for (const entry of ["a1", "a2"]) queue.push({ client: "a" }, entry);
  queue.push({ client: "b" }, "b1");
  assert.deepEqual([queue.shift(), queue.shift(), queue.shift()], ["a1", "b1", "a2"]);
});
