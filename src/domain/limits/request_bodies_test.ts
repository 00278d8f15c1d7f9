import assert from "node:assert/strict";
import { fakeTime } from "../../../test/helpers/fake_time.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { BodyLimits } from "./body_budget.ts";
import { CutBody } from "./cut_body.ts";
import { RequestBodies } from "./request_bodies.ts";
import { isUnfinished } from "./unfinished_bodies.ts";

const K = 1024;
const LIMITS: BodyLimits = { bodyBytesTotalMax: 800 * K, bodyBytesAccountMax: 100 * K };
const OPTIONS = { owner: "acc_1", bytesMax: 64 * K, limits: LIMITS };
const failsWith = (code: string) => (error: unknown) =>
  error instanceof ApiError && error.code === code;

const bytes = (length: number) => Uint8Array.from({ length }, (_, at) => at % 251);

/** A request that announces its length, as the server passes it on. */
function announced(body: Uint8Array<ArrayBuffer>, length = body.length): Request {
  const headers = { "content-length": String(length) };
  return new Request("http://x/", { method: "POST", body, headers });
}

function chunked(...pieces: Uint8Array[]): Request {
  const body = ReadableStream.from(pieces);
  const headers = { "transfer-encoding": "chunked" };
  return new Request("http://x/", { method: "POST", body, headers });
}

Deno.test("a small body is read and not counted, a larger one is", async () => {
  using bodies = new RequestBodies();
  const small = await bodies.read(announced(bytes(16 * K)), OPTIONS);
  assert.deepEqual(small, { bytes: bytes(16 * K), reservation: null });
  const large = await bodies.read(announced(bytes(16 * K + 1)), OPTIONS);
  assert.deepEqual(large.bytes, bytes(16 * K + 1));
  assert.equal(large.reservation!.arrived, 16 * K + 1);
  large.reservation!.release();
});

Deno.test("413 for a body above the limit, whether it is announced or not", async () => {
  using bodies = new RequestBodies();
  const limit = { ...OPTIONS, bytesMax: 40 * K };
  const { reservation } = await bodies.read(announced(bytes(40 * K)), limit);
  reservation!.release();
  await assert.rejects(
    bodies.read(announced(bytes(1), 40 * K + 1), limit),
    failsWith("payload_too_large"),
  );
  const exact = await bodies.read(chunked(bytes(30 * K), bytes(10 * K)), limit);
  assert.equal(exact.bytes.length, 40 * K);
  exact.reservation!.release();
  await assert.rejects(
    bodies.read(chunked(bytes(30 * K), bytes(10 * K + 1)), limit),
    failsWith("payload_too_large"),
  );
});

Deno.test("a request without a body has an empty one", async () => {
  using bodies = new RequestBodies();
  const taken = await bodies.read(new Request("http://x/", { method: "POST" }), OPTIONS);
  assert.deepEqual(taken, { bytes: new Uint8Array(), reservation: null });
});

Deno.test("a body that fails gives its memory back, and stays unfinished", async () => {
  using bodies = new RequestBodies();
  const broken = new Request("http://x/", {
    method: "POST",
    headers: { "transfer-encoding": "chunked" },
    body: ReadableStream.from((async function* () {
      yield await Promise.resolve(bytes(60 * K));
      throw new Error("connection reset");
    })()),
  });
  await assert.rejects(bodies.read(broken, OPTIONS), CutBody);
  assert.equal(isUnfinished(broken), true);
  const whole = chunked(bytes(60 * K));
  const first = await bodies.read(whole, OPTIONS);
  assert.equal(isUnfinished(whole), false);
  // 60 KiB of 100 are taken now; only what this body takes, or it would not have fitted.
  await assert.rejects(
    bodies.read(announced(bytes(60 * K)), OPTIONS),
    failsWith("concurrency_limit_exceeded"),
  );
  first.reservation!.release();
  (await bodies.read(announced(bytes(60 * K)), OPTIONS)).reservation!.release();
});

Deno.test("memory for a body of unknown length is taken once, up to the largest that is accepted", async () => {
  using bodies = new RequestBodies();
  const { bytes: read, reservation } = await bodies.read(chunked(bytes(30 * K)), OPTIONS);
  assert.equal(read.buffer.byteLength, 64 * K);
  reservation!.release();
});

Deno.test("nothing looks at bodies after the end", async () => {
  using time = fakeTime();
  const bodies = new RequestBodies();
  const body = new ReadableStream<Uint8Array>();
  const headers = { "transfer-encoding": "chunked" };
  const request = new Request("http://x/", { method: "POST", body, headers });
  bodies.read(request, OPTIONS).catch(() => {});
  await time.advance(0);
  assert.equal(time.timers, 1);
  bodies[Symbol.dispose]();
  assert.equal(time.timers, 0);
});

Deno.test("threads share the limits; one alone has them whole", async () => {
  using alone = new RequestBodies();
  const held = [
    await alone.read(announced(bytes(50 * K)), OPTIONS),
    await alone.read(announced(bytes(50 * K)), OPTIONS),
  ];
  for (const { reservation } of held) reservation!.release();
  using bodies = new RequestBodies({ threads: 2 });
  const first = await bodies.read(announced(bytes(30 * K)), OPTIONS);
  await assert.rejects(
    bodies.read(announced(bytes(30 * K)), OPTIONS),
    failsWith("concurrency_limit_exceeded"),
  );
  first.reservation!.release();
});

Deno.test("a body that is being read is stopped when another account needs the memory", async () => {
  using bodies = new RequestBodies();
  const limits = { bodyBytesTotalMax: 100 * K, bodyBytesAccountMax: 100 * K };
  let send!: ReadableStreamDefaultController<Uint8Array>;
  const slow = new Request("http://x/", {
    method: "POST",
    headers: { "transfer-encoding": "chunked" },
    body: new ReadableStream<Uint8Array>({ start: (controller) => void (send = controller) }),
  });
  const reading = bodies.read(slow, { owner: "slow", bytesMax: 200 * K, limits });
  const stopped = assert.rejects(reading, failsWith("overloaded"));
  send.enqueue(bytes(90 * K));
  await new Promise((resolve) => setTimeout(resolve));
  const other = await bodies.read(announced(bytes(50 * K)), { ...OPTIONS, limits });
  await stopped;
  other.reservation!.release();
});

Deno.test("the pace of bodies can be set, and is the usual one otherwise", () => {
  using usual = new RequestBodies();
  assert.deepEqual(usual.pace, { graceMs: 30_000, bytesPerSecond: 16 * K });
  using quick = new RequestBodies({ pace: { graceMs: 5 } });
  assert.deepEqual(quick.pace, { graceMs: 5, bytesPerSecond: 16 * K });
});
