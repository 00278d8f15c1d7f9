import assert from "node:assert/strict";
import { ApiError } from "../../lib/api_error.ts";
import { pauseBetweenPieces, PieceCounter } from "./body_pieces.ts";

const tooMany = (error: unknown) => error instanceof ApiError && error.code === "invalid_value";

Deno.test("a thousand pieces may be of any size, more must have 256 bytes on average", () => {
  const small = new PieceCounter();
  for (let n = 0; n < 1_000; n++) small.add(1);
  assert.throws(() => small.add(1), tooMany);

  const average = new PieceCounter();
  for (let n = 0; n < 2_000; n++) average.add(256);
  assert.throws(() => average.add(255), tooMany, "the average is all that counts");

  const early = new PieceCounter();
  early.add(2_000 * 256);
  for (let n = 1; n < 2_000; n++) early.add(0);
  assert.throws(() => early.add(0), tooMany);
});

Deno.test("every 64 pieces other tasks have their turn, and all bodies wait for it", async () => {
  for (let turn = 0; turn < 2; turn++) {
    for (let n = 1; n < 64; n++) assert.equal(pauseBetweenPieces(), null, `piece ${n}`);
    let othersRan = false;
    setTimeout(() => othersRan = true);
    const pause = pauseBetweenPieces();
    assert.notEqual(pause, null);
    assert.equal(pauseBetweenPieces(), pause);
    await pause;
    assert.ok(othersRan);
  }
});
