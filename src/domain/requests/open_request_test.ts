import assert from "node:assert/strict";
import { newId } from "../../lib/ids.ts";
import { OpenRequest } from "./open_request.ts";

/** A request that began 50 ms ago, and those that have ended. */
function openRequest() {
  const ended: OpenRequest[] = [];
  const start = {
    requestId: newId("req"),
    startedAt: performance.now() - 50,
    method: "POST",
    clientRequestId: null,
  };
  const caller = { account: "acc_1", key: null };
  const request = new OpenRequest({ add: (each) => ended.push(each) }, start, caller, "chat");
  return { request, ended };
}

Deno.test("a whole response ends with its head", () => {
  const { request, ended } = openRequest();
  request.respond(503, "upstream_failed", 7);
  assert.deepEqual(ended, [request]);
  const { status, errorCode, firstByteMs, durationMs } = request;
  assert.deepEqual([status, errorCode, firstByteMs, durationMs], [503, "upstream_failed", 7, 7]);
});

Deno.test("a stream ends after its head, with the code of what ended it", () => {
  const { request, ended } = openRequest();
  request.beginStream();
  request.respond(200, null, 7);
  assert.deepEqual(ended, []);
  request.endStream("upstream_failed");
  assert.deepEqual(ended, [request]);
  const { status, errorCode, firstByteMs, durationMs } = request;
  assert.deepEqual([status, errorCode, firstByteMs], [200, "upstream_failed", 7]);
  assert.ok(durationMs >= 50 && durationMs < 5_000, String(durationMs));
});

Deno.test("a stream that is over before its head is sent ends with the head", () => {
  const { request, ended } = openRequest();
  request.beginStream();
  request.endStream("client_disconnected");
  assert.deepEqual(ended, []);
  request.respond(200, null, 7);
  assert.deepEqual(ended, [request]);
  assert.deepEqual([request.status, request.errorCode], [200, "client_disconnected"]);
  assert.ok(request.durationMs >= 50);
});

Deno.test("the time at upstreams is that of all attempts", () => {
  const { request } = openRequest();
  assert.equal(request.upstreamMs, 0);
  for (const durationMs of [3, 4]) {
    request.attempts.push({
      provider: "a",
      model: "m",
      outcome: "ok",
      durationMs,
      startedAt: 0,
      firstByteMs: null,
    });
  }
  assert.equal(request.upstreamMs, 7);
});
