import assert from "node:assert/strict";
import { fakeTime } from "../../../test/helpers/fake_time.ts";
import { ApiError } from "../../lib/api_error.ts";
import { CutBody } from "./cut_body.ts";
import { isTooSlow, PacedReads, type PieceReader } from "./paced_reads.ts";

const PACE = { graceMs: 1_000, bytesPerSecond: 100 };
const MIB = 1024 * 1024;
const failsWith = (code: string) => (error: unknown) =>
  error instanceof ApiError && error.code === code;

/** A body that a test feeds; remembers whether it was cancelled. */
function openBody() {
  let feed!: ReadableStreamDefaultController<Uint8Array>;
  const state = { isCancelled: false };
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => void (feed = controller),
    cancel: () => void (state.isCancelled = true),
  });
  return { stream, state, send: (bytes: number) => feed.enqueue(new Uint8Array(bytes)), feed };
}

const reader = (more: Partial<PieceReader> = {}): PieceReader => ({
  announced: 0,
  take: () => {},
  onBegin: () => {},
  ...more,
});

Deno.test("a body is too slow when it falls silent, or behind its rate, after the grace period", () => {
  assert.equal(isTooSlow(PACE, 1_000, 1_000, 0), false);
  assert.equal(isTooSlow(PACE, 1_001, 1_001, 1_000_000), true, "silent");
  assert.equal(isTooSlow(PACE, 3_000, 1_000, 200), false);
  assert.equal(isTooSlow(PACE, 3_000, 1_000, 199), true, "behind");
  const fast = { graceMs: 1_000, bytesPerSecond: 1_000_000 };
  assert.equal(isTooSlow(fast, 3_000, 0, 1_999_999), true);
  assert.equal(isTooSlow(fast, 3_000, 0, 2_000_000), false);
});

Deno.test("a small body has the grace period to arrive", async () => {
  using time = fakeTime();
  using reads = new PacedReads(PACE);
  const late = reads.whole(new Promise(() => {}));
  const refused = assert.rejects(late, failsWith("request_timeout"));
  await time.advance(900);
  const { promise, resolve } = Promise.withResolvers<Uint8Array>();
  const inTime = reads.whole(promise);
  await time.advance(400);
  await refused;
  await time.advance(500);
  resolve(new Uint8Array([7]));
  assert.deepEqual(await inTime, new Uint8Array([7]));
  const cut = reads.whole(Promise.reject(new Error("connection reset")));
  await assert.rejects(cut, CutBody);
  await time.advance(250);
  assert.equal(time.timers, 0, "no read is left to look at");
});

Deno.test("one timer looks at all bodies, and stops with the last of them", async () => {
  using time = fakeTime();
  const reads = new PacedReads(PACE);
  const [first, second] = [openBody(), openBody()];
  const reading = [first, second].map(({ stream }) => reads.pieces(stream, reader()));
  await time.advance(100);
  assert.equal(time.timers, 1);
  first.feed.close();
  await reading[0];
  await time.advance(250);
  assert.equal(time.timers, 1);
  second.feed.close();
  await reading[1];
  await time.advance(250);
  assert.equal(time.timers, 0);

  const late = openBody();
  const lateReading = reads.pieces(late.stream, reader());
  await time.advance(250);
  assert.equal(time.timers, 1, "it starts again");
  reads[Symbol.dispose]();
  assert.equal(time.timers, 0);
  await time.advance(10_000);
  assert.equal(late.state.isCancelled, false, "nothing is given up after the end");
  late.feed.close();
  await lateReading;
});

Deno.test("a small body that has come is not looked at any more", async () => {
  using time = fakeTime();
  using reads = new PacedReads(PACE);
  await reads.whole(Promise.resolve(new Uint8Array()));
  await time.advance(250);
  assert.equal(time.timers, 0);
});

Deno.test("a body that was given up is given up once", async () => {
  using time = fakeTime();
  using reads = new PacedReads(PACE);
  const refused = assert.rejects(
    reads.whole(new Promise(() => {})),
    failsWith("request_timeout"),
  );
  await time.advance(1_500);
  await refused;
  assert.equal(time.timers, 0);
});

Deno.test("pieces are handed on as they come, until the body ends", async () => {
  using _time = fakeTime();
  using reads = new PacedReads(PACE);
  const body = openBody();
  const lengths: number[] = [];
  const reading = reads.pieces(body.stream, reader({ take: ({ length }) => lengths.push(length) }));
  body.send(3);
  body.send(5);
  body.feed.close();
  await reading;
  assert.deepEqual(lengths, [3, 5]);
  assert.equal(body.state.isCancelled, false);
});

Deno.test("a body in pieces that falls silent is given up and cancelled", async () => {
  using time = fakeTime();
  using reads = new PacedReads(PACE);
  const body = openBody();
  const refused = assert.rejects(
    reads.pieces(body.stream, reader()),
    failsWith("request_timeout"),
  );
  body.send(10_000);
  await time.advance(800);
  body.send(10_000);
  await time.advance(900);
  assert.equal(body.state.isCancelled, false, "it came again within the grace period");
  await time.advance(400);
  await refused;
  assert.equal(body.state.isCancelled, true);
});

Deno.test("a large body must come faster, in proportion, up to sixteen times", async () => {
  using time = fakeTime();
  /** How long a body of this announced length lasts that brings so many bytes in each half second. */
  const secondsOf = async (announced: number, bytes: number) => {
    using reads = new PacedReads(PACE);
    const body = openBody();
    let isOver = false;
    const reading = reads.pieces(body.stream, reader({ announced })).catch(() => isOver = true);
    let halves = 0;
    while (!isOver && halves < 40) {
      body.send(bytes);
      await time.advance(500);
      halves++;
    }
    if (!isOver) body.feed.close();
    await reading;
    return halves / 2;
  };
  // 100 bytes a second: 60 in half a second are enough for a body up to 1 MiB, not for 2 MiB.
  assert.equal(await secondsOf(0, 60), 20);
  assert.equal(await secondsOf(MIB, 60), 20);
  assert.ok(await secondsOf(2 * MIB, 60) < 5);
  assert.equal(await secondsOf(2 * MIB, 110), 20);
  assert.ok(await secondsOf(16 * MIB, 600) < 10);
  assert.equal(await secondsOf(64 * MIB, 802), 20);
});

Deno.test("a body ends when a piece is refused, or when it is stopped from outside", async () => {
  using _time = fakeTime();
  using reads = new PacedReads(PACE);
  const refused = openBody();
  const reading = reads.pieces(
    refused.stream,
    reader({
      take: () => {
        throw new RangeError("too large");
      },
    }),
  );
  refused.send(1);
  await assert.rejects(reading, RangeError);
  assert.equal(refused.state.isCancelled, true);

  const stopped = openBody();
  let stop!: (error: Error) => void;
  const stopping = reads.pieces(stopped.stream, reader({ onBegin: (given) => stop = given }));
  stop(new TypeError("first"));
  stop(new RangeError("second"));
  await assert.rejects(stopping, TypeError);
  assert.equal(stopped.state.isCancelled, true);
});

Deno.test("a body that breaks off tells that the client has gone", async () => {
  using _time = fakeTime();
  using reads = new PacedReads(PACE);
  const body = openBody();
  const reading = reads.pieces(body.stream, reader());
  body.feed.error(new Error("connection reset"));
  await assert.rejects(reading, CutBody);
});

Deno.test("many small pieces are refused, and let others run meanwhile", async () => {
  using time = fakeTime();
  using reads = new PacedReads(PACE);
  const body = openBody();
  let taken = 0;
  const refused = assert.rejects(
    reads.pieces(body.stream, reader({ take: () => taken++ })),
    failsWith("invalid_value"),
  );
  for (let n = 0; n < 1_100; n++) body.send(1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(taken <= 64, `${taken} without a pause`);
  await time.advance(0);
  await refused;
  assert.equal(taken, 1_000);
});
