import assert from "node:assert/strict";
import { LongStepSlots } from "./long_step_slots.ts";

const AT_ONCE = { waitMs: 0, signal: new AbortController().signal };

async function fill(slots: LongStepSlots, account: string, provider: string) {
  const taken: Disposable[] = [];
  while (true) {
    const slot = await slots.acquire(account, provider, AT_ONCE);
    if (slot === null) return taken;
    taken.push(slot);
  }
}

Deno.test("an account at one provider leaves room for its others, and for the provider's others", async () => {
  const slots = new LongStepSlots(64);
  const hung = await fill(slots, "a", "x");
  assert.equal(hung.length, 22);
  const elsewhere = await fill(slots, "a", "y");
  assert.ok(elsewhere.length >= 8, String(elsewhere.length));
  assert.ok((await fill(slots, "b", "x")).length >= 4);
  assert.ok((await fill(slots, "b", "z")).length >= 2);
  for (const one of hung) one[Symbol.dispose]();
  assert.ok((await fill(slots, "a", "x")).length > 0);
});

Deno.test("very few slots are slots all the same, and come back", async () => {
  const slots = new LongStepSlots(1);
  const [one, ...others] = await fill(slots, "a", "x");
  assert.equal(others.length, 0);
  assert.equal(await slots.acquire("b", "y", AT_ONCE), null);
  one![Symbol.dispose]();
  assert.notEqual(await slots.acquire("b", "y", AT_ONCE), null);
});

Deno.test("steps wait for a slot in their order, but not for one that another account may have", async () => {
  const slots = new LongStepSlots(4);
  const { signal } = new AbortController();
  const given: string[] = [];
  const waitFor = async (account: string) => {
    const slot = await slots.acquire(account, "x", { waitMs: 60_000, signal });
    given.push(account);
    return slot!;
  };
  const hung = await fill(slots, "a", "x");
  const waiting = [waitFor("a"), waitFor("b"), waitFor("a")];
  await Promise.resolve();
  assert.deepEqual(given, []);
  for (const one of hung) one[Symbol.dispose]();
  const first = await Promise.race(waiting);
  first[Symbol.dispose]();
  for (const slot of await Promise.all(waiting)) slot[Symbol.dispose]();
  assert.deepEqual(given.toSorted(), ["a", "a", "b"]);
  assert.equal(given[0], "a");
});

Deno.test("a step that is to stop waits for no slot", async () => {
  const slots = new LongStepSlots(1);
  const stop = new AbortController();
  const options = { waitMs: 60_000, signal: stop.signal };
  const [one] = await fill(slots, "a", "x");
  const waiting = slots.acquire("b", "y", options);
  stop.abort();
  assert.equal(await waiting, null);
  assert.equal(await slots.acquire("b", "y", options), null);
  one![Symbol.dispose]();
  assert.equal((await fill(slots, "b", "y")).length, 1, "it left the line");
});
