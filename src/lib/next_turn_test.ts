import assert from "node:assert/strict";
import { nextTurn } from "./next_turn.ts";

Deno.test("all that wait in one turn go on together, after what was already due", async () => {
  const order: string[] = [];
  const wait = async (name: string) => {
    await nextTurn();
    order.push(name);
  };
  const waiting = [wait("a"), wait("b")];
  queueMicrotask(() => order.push("microtask"));
  await Promise.all(waiting);
  assert.deepEqual(order, ["microtask", "a", "b"]);
  await wait("later");
  assert.deepEqual(order.at(-1), "later");
});
