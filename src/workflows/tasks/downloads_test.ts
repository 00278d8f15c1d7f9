import assert from "node:assert/strict";
import { DownloadSlots } from "./downloads.ts";

function fill(slots: DownloadSlots, account: string, provider: string): Disposable[] {
  const taken: Disposable[] = [];
  for (let one = slots.acquire(account, provider); one; one = slots.acquire(account, provider)) {
    taken.push(one);
  }
  return taken;
}

Deno.test("an account at one provider leaves room for its others, and for the provider's others", () => {
  const slots = new DownloadSlots(64);
  const hung = fill(slots, "a", "x");
  assert.equal(hung.length, 22);
  const elsewhere = fill(slots, "a", "y");
  assert.ok(elsewhere.length >= 8, String(elsewhere.length));
  assert.ok(fill(slots, "b", "x").length >= 4);
  assert.ok(fill(slots, "b", "z").length >= 2);
  for (const one of hung) one[Symbol.dispose]();
  assert.ok(fill(slots, "a", "x").length > 0);
});

Deno.test("very few slots are slots all the same, and come back", () => {
  const slots = new DownloadSlots(1);
  const [one, ...others] = fill(slots, "a", "x");
  assert.equal(others.length, 0);
  assert.equal(slots.acquire("b", "y"), null);
  one![Symbol.dispose]();
  assert.notEqual(slots.acquire("b", "y"), null);
});
