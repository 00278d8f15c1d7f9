import assert from "node:assert/strict";
import type { ClaimedDelivery } from "./claim.ts";
import { type Destination, DESTINATION_SLOTS, DestinationQueues } from "./destination_queues.ts";

let now = 0;
let made = 0;
const claimed = () => ({ id: `dlv_${made++}`, claimedAt: now }) as ClaimedDelivery;

function fill(lane: Destination, count: number): void {
  for (let n = 0; n < count; n++) lane.waiting.push(claimed());
}

const kinds = (lanes: DestinationQueues, lane: Destination) =>
  [...lanes.turns(lane)].map(({ kind }) => kind);

Deno.test("a lane begins with little and grows with every answer, up to its slots", () => {
  const lanes = new DestinationQueues(() => now);
  const lane = lanes.lane("a");
  fill(lane, 100);
  let under = kinds(lanes, lane).length;
  assert.equal(under, 2);
  for (let n = 0; n < 50; n++) {
    lanes.ended(lane, true);
    under += kinds(lanes, lane).length - 1;
  }
  assert.equal(lane.sending, DESTINATION_SLOTS);
  assert.equal(under, DESTINATION_SLOTS);
  assert.equal(lanes.sending, DESTINATION_SLOTS);
});

Deno.test("a lane that cannot reach its receiver rests, hands back what waits, then sends one to see", () => {
  const lanes = new DestinationQueues(() => now);
  const lane = lanes.lane("dead");
  fill(lane, 40);
  for (let failures = 0; failures < 5; failures++) {
    kinds(lanes, lane);
    lanes.ended(lane, false);
  }
  const turns = [...lanes.turns(lane)];
  assert.ok(turns.length > 30 && turns.every(({ kind }) => kind === "back"));
  assert.ok(turns.every((turn) => turn.kind === "back" && turn.waitMs > 4_000));
  assert.deepEqual(lanes.blocked(), ["dead"], "nothing more is claimed for it");
  assert.deepEqual(lanes.lane("alive").slots, 2, "others are not concerned");

  now += 6_000;
  assert.deepEqual(lanes.blocked(), []);
  fill(lane, 3);
  assert.deepEqual(kinds(lanes, lane), ["send"], "one goes, two wait for what becomes of it");
  lanes.ended(lane, false);
  assert.deepEqual(kinds(lanes, lane), ["back", "back"], "it is still dead, and rests for longer");
  now += 20_000;
  fill(lane, 3);
  assert.deepEqual(kinds(lanes, lane), ["send"]);
  lanes.ended(lane, true);
  assert.deepEqual(kinds(lanes, lane), ["send", "send"], "it is back");
});

Deno.test("what has waited too long is handed back before its lease is over", () => {
  const lanes = new DestinationQueues(() => now);
  const lane = lanes.lane("slow");
  fill(lane, 4);
  assert.equal(kinds(lanes, lane).length, 2);
  now += 21_000;
  lanes.ended(lane, true);
  assert.deepEqual(kinds(lanes, lane), ["back", "back"]);
  assert.ok(lanes.appetite(lane) > 0, "and is fetched again");
});

Deno.test("a process that is full serves those first who found no place", () => {
  const lanes = new DestinationQueues(() => now);
  const all = Array.from({ length: 300 }, (_, n) => lanes.lane(`lane ${n}`));
  for (const lane of all) {
    fill(lane, 2);
    kinds(lanes, lane);
  }
  assert.equal(lanes.sending, 512);
  const next = lanes.ended(all[0]!, true);
  assert.deepEqual(next[0]!.name, "lane 256");
  assert.equal(next.at(-1), all[0]);
});
