import assert from "node:assert/strict";
import { beginBody, closeAfter, finishBody, isUnfinished } from "./unfinished_bodies.ts";

Deno.test("a chunked body is unfinished until its end was reached, another never", () => {
  const chunked = new Request("http://x/", { headers: { "transfer-encoding": "chunked" } });
  assert.equal(isUnfinished(chunked), false);
  beginBody(chunked);
  assert.equal(isUnfinished(chunked), true);
  finishBody(chunked);
  assert.equal(isUnfinished(chunked), false);
  const announced = new Request("http://x/", { headers: { "content-length": "5" } });
  beginBody(announced);
  assert.equal(isUnfinished(announced), false);
});

Deno.test("a response after which the connection is closed is sent whole, and then breaks", async () => {
  const original = new Response("abc", { status: 413, headers: { "x-request-id": "req_1" } });
  const response = await closeAfter(original);
  assert.equal(response.status, 413);
  assert.equal(response.headers.get("x-request-id"), "req_1");
  assert.equal(response.headers.get("content-length"), "3");
  const reader = response.body!.getReader();
  assert.deepEqual((await reader.read()).value, new TextEncoder().encode("abc"));
  await assert.rejects(reader.read(), /connection closed/);
});

Deno.test("an empty response breaks at once: an empty piece would not be sent", async () => {
  const response = await closeAfter(new Response("", { status: 400 }));
  await assert.rejects(response.body!.getReader().read(), /connection closed/);
});
