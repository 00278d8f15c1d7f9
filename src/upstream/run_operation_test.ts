import assert from "node:assert/strict";
import type { Operation, Transport, UpstreamReply } from "./adapter.ts";
import { UpstreamFailure } from "./failure.ts";
import { runOperation, type UpstreamCall } from "./run_operation.ts";

function callOf(transport: Transport): UpstreamCall {
  return {
    transport,
    http1: null,
    faults: { fault: () => ({ kind: "failed" }), isDeclined: (status) => status === 503 },
    target: {
      model: "m",
      baseUrl: "http://provider.test",
      apiKey: null,
      headers: { "X-Tenant": "configured" },
    },
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  };
}

/** Greets by name, and knows no 404. */
const greet: Operation<string, string | null> = {
  write: (name, { baseUrl }) => ({
    method: "POST",
    url: `${baseUrl}/greet`,
    headers: { "x-tenant": "ours", "content-type": "text/plain" },
    body: name,
  }),
  read: ({ body }, { model }, name) => `${(body as { hello: string }).hello} ${name} ${model}`,
  readStatus: (status) => status === 404 ? null : undefined,
};

const failureOf = async (call: UpstreamCall) => {
  const error = await runOperation(call, greet, "ann").then(() => null, (thrown) => thrown);
  assert.ok(error instanceof UpstreamFailure, String(error));
  return [error.kind, error.received, error.options.status];
};

Deno.test("an operation writes a request, with the configured headers, and reads its reply", async () => {
  let seen: unknown;
  const call = callOf(async (request) => {
    seen = [request.method, request.headers.get("x-tenant"), await request.text()];
    return Response.json({ hello: "hi" });
  });
  assert.equal(await runOperation(call, greet, "ann"), "hi ann m");
  assert.deepEqual(seen, ["POST", "configured", "ann"]);
});

Deno.test("a status may be the result of an operation; any other is a failure", async () => {
  const answer = (status: number) =>
    callOf(() => Promise.resolve(new Response("{}", { status, headers: { "retry-after": "7" } })));
  assert.equal(await runOperation(answer(404), greet, "ann"), null);
  assert.deepEqual(await failureOf(answer(400)), ["failed", "declined", 400]);
  assert.deepEqual(await failureOf(answer(500)), ["failed", "unknown", 500]);
  assert.deepEqual(await failureOf(answer(503)), ["failed", "declined", 503]);
});

Deno.test("a reply that the operation cannot read may be that of a job that runs", async () => {
  const json = { "content-type": "application/json" };
  for (const body of ["{", "null"]) {
    const call = callOf(() => Promise.resolve(new Response(body, { headers: json })));
    assert.deepEqual(await failureOf(call), ["unreadable", "unknown", undefined], body);
  }
});

Deno.test("a reply is JSON by its type, and bytes otherwise", async () => {
  const read = async (type: string | null) => {
    const headers = new Headers(type === null ? {} : { "content-type": type });
    const bytes = new TextEncoder().encode("[1]");
    const call = callOf(() => Promise.resolve(new Response(bytes, { headers })));
    const whole: Operation<null, UpstreamReply> = {
      write: () => ({ method: "GET", url: "http://provider.test/", headers: {}, body: null }),
      read: (reply) => reply,
    };
    const { mimeType, body } = await runOperation(call, whole, null);
    return [mimeType, body instanceof Uint8Array ? "bytes" : body];
  };
  assert.deepEqual(await read("application/json; charset=utf-8"), ["application/json", [1]]);
  assert.deepEqual(await read("application/problem+JSON"), ["application/problem+json", [1]]);
  assert.deepEqual(await read("audio/mpeg"), ["audio/mpeg", "bytes"]);
  assert.deepEqual(await read(null), ["application/octet-stream", "bytes"]);
});
