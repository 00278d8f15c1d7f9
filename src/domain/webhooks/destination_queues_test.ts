import assert from "node:assert/strict";
import type { ClaimedDelivery } from "./claim.ts";
import { type Destination, DESTINATION_SLOTS, DestinationQueues } from "./destination_queues.ts";

let now = 0;
let made = 0;
const claimed = () => ({ id: `dlv_${made++}`, claimedAt: now }) as ClaimedDelivery;

function fill(destination: Destination, count: number): void {
  for (let n = 0; n < count; n++) destination.waiting.push(claimed());
}

const kinds = (queues: DestinationQueues, destination: Destination) =>
  [...queues.actions(destination)].map(({ kind }) => kind);

Deno.test("a destination begins with little and grows with every answer, up to its slots", () => {
  const queues = new DestinationQueues(() => now);
  const destination = queues.destination("a");
  fill(destination, 100);
  let under = kinds(queues, destination).length;
  assert.equal(under, 2);
  for (let n = 0; n < 50; n++) {
    queues.release(destination, true);
    under += kinds(queues, destination).length - 1;
  }
  assert.equal(destination.sending, DESTINATION_SLOTS);
  assert.equal(under, DESTINATION_SLOTS);
  assert.equal(queues.sending, DESTINATION_SLOTS);
});

Deno.test("a destination whose receiver fails is paused: its queue is returned, then one probe is sent", () => {
  const queues = new DestinationQueues(() => now);
  const destination = queues.destination("dead");
  fill(destination, 40);
  for (let failures = 0; failures < 5; failures++) {
    kinds(queues, destination);
    queues.release(destination, false);
  }
  const actions = [...queues.actions(destination)];
  assert.ok(actions.length > 30 && actions.every(({ kind }) => kind === "back"));
  assert.ok(actions.every((action) => action.kind === "back" && action.waitMs > 4_000));
  assert.deepEqual(queues.blocked(), ["dead"], "nothing more is claimed for it");
  assert.deepEqual(queues.destination("alive").slots, 2, "others are not concerned");

  now += 6_000;
  assert.deepEqual(queues.blocked(), []);
  fill(destination, 3);
  assert.deepEqual(
    kinds(queues, destination),
    ["send"],
    "one goes, two wait for what becomes of it",
  );
  queues.release(destination, false);
  assert.deepEqual(
    kinds(queues, destination),
    ["back", "back"],
    "it still fails, and the pause grows",
  );
  now += 20_000;
  fill(destination, 3);
  assert.deepEqual(kinds(queues, destination), ["send"]);
  queues.release(destination, true);
  assert.deepEqual(kinds(queues, destination), ["send", "send"], "it is back");
});

Deno.test("what has waited too long is handed back before its lease is over", () => {
  const queues = new DestinationQueues(() => now);
  const destination = queues.destination("slow");
  fill(destination, 4);
  assert.equal(kinds(queues, destination).length, 2);
  now += 21_000;
  queues.release(destination, true);
  assert.deepEqual(kinds(queues, destination), ["back", "back"]);
  assert.ok(queues.prefetch(destination) > 0, "and is fetched again");
});

Deno.test("a process that is full serves those first who found no place", () => {
  const queues = new DestinationQueues(() => now);
  const all = Array.from({ length: 300 }, (_, n) => queues.destination(`destination ${n}`));
  for (const destination of all) {
    fill(destination, 2);
    kinds(queues, destination);
  }
  assert.equal(queues.sending, 512);
  const next = queues.release(all[0]!, true);
  assert.deepEqual(next[0]!.name, "destination 256");
  assert.equal(next.at(-1), all[0]);
});
