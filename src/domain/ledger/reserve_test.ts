import assert from "node:assert/strict";
import fc from "fast-check";
import { decimal, fraction, roundUp } from "../../lib/money.ts";
import type { Quote } from "../pricing/quote.ts";
import { PRICE } from "../../../test/helpers/open_ledger.ts";
import { type Draw, Reserve } from "./reserve.ts";
import { ReserveDemand } from "./reserve_demand.ts";

const quote = (amount: string, units = 0) => ({
  model: "m",
  kind: "text" as const,
  amount: fraction(amount),
  units: BigInt(units),
  price: PRICE,
});

function drawFrom(reserve: Reserve, quote: Quote, now = 0): Draw | null {
  const worst = { money: roundUp(quote.amount, 6), units: quote.units * decimal("1") };
  return reserve.draw(quote, { worst, scale: 6, now, moveMs: 3_000 });
}

function openReserve(shares: [bucket: string, amount: string, endsAt?: number][]): Reserve {
  const reserve = new Reserve("acc_1", "text", new ReserveDemand(2));
  reserve.drawableUntil = 1_000;
  for (const [bucket, amount, endsAt = Infinity] of shares) {
    reserve.add(bucket, decimal(amount), endsAt);
  }
  return reserve;
}

Deno.test("a draw uses quota, then gifts, then cash, whatever came first", () => {
  const reserve = openReserve([["cash:1", "5"], ["gift:1", "1"], ["quota:1", "50"]]);
  const draw = drawFrom(reserve, quote("4", 100), 0)!;
  assert.deepEqual(draw.allocations, ["quota:1", "gift:1", "cash:1"]);
  assert.deepEqual(draw.held, ["50", "1", "1"].map(decimal));
  assert.deepEqual(reserve.left, { money: decimal("4"), units: 0n });
});

Deno.test("a draw that does not fit takes nothing, nor does one after the lease", () => {
  const reserve = openReserve([["cash:1", "5"]]);
  assert.equal(drawFrom(reserve, quote("5.000001"), 0), null);
  assert.deepEqual(reserve.left.money, decimal("5"));
  assert.equal(drawFrom(reserve, quote("5"), 1_000), null);
  assert.notEqual(drawFrom(reserve, quote("5"), 999), null);
  assert.equal(drawFrom(reserve, quote("0.000001"), 999), null);
});

Deno.test("what has ended is not drawn, and is given up", () => {
  const reserve = openReserve([["gift:1", "3", 500], ["cash:1", "5"]]);
  assert.deepEqual(drawFrom(reserve, quote("1"), 500)!.allocations, ["cash:1"]);
  const { allocations, kept } = reserve.tell({
    keep: { money: decimal("9"), units: 0n },
    now: 500,
    minAgeMs: 0,
  });
  assert.deepEqual(allocations, ["gift:1", "cash:1"]);
  assert.deepEqual(kept, [0n, decimal("5")]);
});

Deno.test("of several gifts the one that ends first is drawn first, whatever came first", () => {
  const reserve = openReserve([["gift:1", "1"], ["gift:2", "1", 900], ["gift:3", "1", 800]]);
  assert.deepEqual(drawFrom(reserve, quote("3"), 0)!.allocations, ["gift:3", "gift:2", "gift:1"]);
});

Deno.test("a bucket with less than a unit of quota left is no part of a draw", () => {
  const reserve = openReserve([["quota:1", "0.5"], ["cash:1", "5"]]);
  assert.deepEqual(drawFrom(reserve, quote("1", 10), 0)!.allocations, ["cash:1"]);
});

Deno.test("a draw whose charge waits is not told, and one that was told is told no more", () => {
  const reserve = openReserve([["cash:1", "5"]]);
  const tell = () => reserve.tell({ keep: { money: 0n, units: 0n }, now: 0, minAgeMs: 0 }).drawn;
  const [first, second] = [
    drawFrom(reserve, quote("1"), 0)!,
    drawFrom(reserve, quote("2"), 0)!,
  ];
  first.isEnding = true;
  assert.deepEqual(tell(), [decimal("2")]);
  assert.deepEqual([first.isTold, second.isTold], [false, true]);
  second.isEnding = true;
  assert.deepEqual(tell(), [0n]);
  // The charge of the first has failed, and it goes on.
  first.isEnding = false;
  assert.deepEqual(tell(), [decimal("1")]);
});

Deno.test("a closing reserve is drawn from no more, and a draw with an unknown end is given up", () => {
  const reserve = openReserve([["cash:1", "5"]]);
  const draw = drawFrom(reserve, quote("2"), 0)!;
  reserve.isClosing = true;
  assert.equal(drawFrom(reserve, quote("1"), 0), null);
  reserve.end(draw, null, 0);
  assert.deepEqual(reserve.held.money, decimal("3"));
});

type Step =
  | { add: [bucket: number, amount: bigint] }
  | { draw: [amount: bigint, units: number] }
  | { end: [which: number, share: number] }
  | { giveUp: bigint };

Deno.test("a reserve is the sum of its draws and of what is left, whatever happens", () => {
  const amount = fc.bigInt(0n, 5_000_000n).map((micros) => micros * 1_000_000n);
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ add: fc.tuple(fc.nat(2), amount) }),
    fc.record({ draw: fc.tuple(amount, fc.nat(3)) }),
    fc.record({ end: fc.tuple(fc.nat(5), fc.nat(100)) }),
    fc.record({ giveUp: amount }),
  );
  const one = decimal("1");
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const reserve = openReserve([]);
    // What the database would have.
    const frozen = new Map<string, bigint>();
    const change = (bucket: string, by: bigint) =>
      frozen.set(bucket, (frozen.get(bucket) ?? 0n) + by);
    const open: Draw[] = [];
    for (const step of steps) {
      if ("add" in step) {
        const bucket = ["quota:1", "gift:1", "cash:1"][step.add[0]]!;
        const added = step.add[0] === 0 ? step.add[1] / one * one : step.add[1];
        reserve.add(bucket, added, Infinity);
        change(bucket, added);
      } else if ("draw" in step) {
        const [num, units] = step.draw;
        const draw = drawFrom(reserve, { ...quote("0", units), amount: { num, den: one } });
        if (draw !== null) open.push(draw);
      } else if ("end" in step) {
        const [draw] = open.splice(step.end[0], 1);
        if (draw === undefined) continue;
        const taken = draw.held.map((held) => held / one * BigInt(step.end[1]) / 100n * one);
        for (const [at, bucket] of draw.allocations.entries()) change(bucket, -taken[at]!);
        reserve.end(draw, taken, 0);
      } else {
        const { allocations, kept, drawn } = reserve.tell({
          keep: { money: step.giveUp, units: 0n },
          now: 0,
          minAgeMs: 0,
        });
        for (const [at, bucket] of allocations.entries()) {
          assert.ok(kept[at]! <= (frozen.get(bucket) ?? 0n), "nothing is kept that it has not got");
          frozen.set(bucket, kept[at]!);
          const draws = open.reduce((sum, { allocations, held }) => {
            const slot = allocations.indexOf(bucket);
            return slot === -1 ? sum : sum + held[slot]!;
          }, 0n);
          assert.equal(drawn![at], draws);
        }
      }
      const { held, left } = reserve;
      const sum = (isQuota: boolean) =>
        [...frozen].reduce((sum, [bucket, amount]) => {
          assert.ok(amount >= 0n, "never more than the database has");
          return bucket.startsWith("quota:") === isQuota ? sum + amount : sum;
        }, 0n);
      assert.deepEqual(held, { money: sum(false), units: sum(true) });
      assert.ok(left.money >= 0n && left.units >= 0n);
    }
  }));
});
