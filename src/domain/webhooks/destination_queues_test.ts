import assert from "node:assert/strict";
import type { ClaimedDelivery } from "./claim.ts";
import { type Destination, DESTINATION_SLOTS, DestinationQueues } from "./destination_queues.ts";

let now = 0;
let made = 0;
const claimed = () => ({ id: `dlv_${made++}`, claimedAt: now }) as ClaimedDelivery;

function fill(lane: Destination, count: number): void {
  for (let n = 0; n < count; n++) lane.waiting.push(claimed());
}

const kinds = (queues: DestinationQueues, lane: Destination) =>
  [...queues.turns(lane)].map(({ kind }) => kind);

Deno.test("a lane begins with little and grows with every answer, up to its slots", () => {
  const queues = new DestinationQueues(() => now);
  const lane = queues.lane("a");
  fill(lane, 100);
  let under = kinds(queues, lane).length;
  assert.equal(under, 2);
  for (let n = 0; n < 50; n++) {
    queues.ended(lane, true);
    under += kinds(queues, lane).length - 1;
  }
  assert.equal(lane.sending, DESTINATION_SLOTS);
  assert.equal(under, DESTINATION_SLOTS);
  assert.equal(queues.sending, DESTINATION_SLOTS);
});

Deno.test("a lane that cannot reach its receiver rests, hands back what waits, then sends one to see", () => {
  const queues = new DestinationQueues(() => now);
  const lane = queues.lane("dead");
  fill(lane, 40);
  for (let failures = 0; failures < 5; failures++) {
    kinds(queues, lane);
    queues.ended(lane, false);
  }
  const turns = [...queues.turns(lane)];
  assert.ok(turns.length > 30 && turns.every(({ kind }) => kind === "back"));
  assert.ok(turns.every((turn) => turn.kind === "back" && turn.waitMs > 4_000));
  assert.deepEqual(queues.blocked(), ["dead"], "nothing more is claimed for it");
  assert.deepEqual(queues.lane("alive").slots, 2, "others are not concerned");

  now += 6_000;
  assert.deepEqual(queues.blocked(), []);
  fill(lane, 3);
  assert.deepEqual(kinds(queues, lane), ["send"], "one goes, two wait for what becomes of it");
  queues.ended(lane, false);
  assert.deepEqual(kinds(queues, lane), ["back", "back"], "it is still dead, and rests for longer");
  now += 20_000;
  fill(lane, 3);
  assert.deepEqual(kinds(queues, lane), ["send"]);
  queues.ended(lane, true);
  assert.deepEqual(kinds(queues, lane), ["send", "send"], "it is back");
});

Deno.test("what has waited too long is handed back before its lease is over", () => {
  const queues = new DestinationQueues(() => now);
  const lane = queues.lane("slow");
  fill(lane, 4);
  assert.equal(kinds(queues, lane).length, 2);
  now += 21_000;
  queues.ended(lane, true);
  assert.deepEqual(kinds(queues, lane), ["back", "back"]);
  assert.ok(queues.appetite(lane) > 0, "and is fetched again");
});

Deno.test("a process that is full serves those first who found no place", () => {
  const queues = new DestinationQueues(() => now);
  const all = Array.from({ length: 300 }, (_, n) => queues.lane(`lane ${n}`));
  for (const lane of all) {
    fill(lane, 2);
    kinds(queues, lane);
  }
  assert.equal(queues.sending, 512);
  const next = queues.ended(all[0]!, true);
  assert.deepEqual(next[0]!.name, "lane 256");
  assert.equal(next.at(-1), all[0]);
});
