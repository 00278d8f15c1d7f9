import assert from "node:assert/strict";
import { BodyReservation } from "./body_reservation.ts";

/** A reservation, and the sums that it has told. */
function open() {
  const told = { reserved: 0, arrived: 0, finished: 0, released: 0, calls: 0 };
  const body = new BodyReservation({
    reserve: (bytes) => {
      told.reserved += bytes;
      told.calls++;
    },
    arrive: (bytes) => void (told.arrived += bytes),
    finishReading: () => void told.finished++,
    release: () => void told.released++,
  });
  return { body, told, sums: () => [told.reserved, told.arrived] };
}

Deno.test("a body reserves what it announces, or what has come if that is more", () => {
  const { body, told, sums } = open();
  body.reserve(1_000);
  body.arrive(600);
  assert.deepEqual(sums(), [1_000, 856]);
  body.arrive(400);
  assert.deepEqual([...sums(), told.calls], [1_000, 1_512, 1]);
  body.arrive(1);
  assert.deepEqual(sums(), [1_001, 1_769]);
  body.arrive(99);
  assert.deepEqual([...sums(), body.reserved, body.arrived], [1_100, 2_124, 1_100, 2_124]);
});

Deno.test("a complete body takes its bytes, a kept one a quarter, a released one nothing", () => {
  const { body, told, sums } = open();
  body.reserve(5_000);
  body.arrive(1_001);
  body.finishReading();
  assert.deepEqual([...sums(), body.reserved, body.arrived], [1_001, 1_001, 1_001, 1_001]);
  assert.equal(told.finished, 1);
  body.keep();
  assert.equal(body.isKept, true);
  assert.deepEqual(sums(), [251, 251]);
  const { calls } = told;
  body.keep();
  assert.equal(told.calls, calls, "once");
  body.release();
  assert.deepEqual([...sums(), told.released], [0, 0, 1]);
});

Deno.test("nothing happens to a body that was released", () => {
  const { body, told, sums } = open();
  body.arrive(10);
  body.release();
  const { calls } = told;
  body.release();
  body.keep();
  body.finishReading();
  body.arrive(10);
  assert.deepEqual([...sums(), told.calls, told.finished, told.released], [0, 0, calls, 0, 1]);
  assert.equal(body.isKept, false);
});

Deno.test("a cancelled body is told why, and released", () => {
  const { body, told } = open();
  const reasons: string[] = [];
  body.onCancel = ({ message }) => reasons.push(message);
  body.cancel(new Error("full"));
  assert.deepEqual([reasons, told.released], [["full"], 1]);
  const other = open();
  other.body.cancel(new Error("full"));
  assert.equal(other.told.released, 1, "also before it is read");
});
