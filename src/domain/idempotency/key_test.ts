import assert from "node:assert/strict";
import { hashBody, identifyRequest, keyReused } from "./key.ts";

Deno.test("a request without a key has no identity", () => {
  assert.equal(identifyRequest(null, "/v1/images", {}), null);
});

Deno.test("a key is 1 to 255 visible ASCII characters", () => {
  const identity = identifyRequest("k", "/v1/images", { n: 1 }, "client_request_id");
  assert.deepEqual(identity, {
    key: "k",
    path: "/v1/images",
    bodyHash: hashBody({ n: 1 }),
    param: "client_request_id",
  });
  assert.equal(identifyRequest("~".repeat(255), "/", {})?.param, "Idempotency-Key");
  for (const key of ["", "a b", "ä", "~".repeat(256)]) {
    assert.throws(() => identifyRequest(key, "/", {}), {
      code: "invalid_value",
      param: "Idempotency-Key",
    });
  }
});

Deno.test("neither the order of keys nor what JSON leaves out makes another body", () => {
  const same = [
    { a: 1, b: { c: [1, { d: 2, e: null }], f: "x" } },
    { b: { f: "x", c: [1, { e: null, d: 2 }] }, a: 1 },
    { b: { f: "x", c: [1, { e: null, d: 2 }], g: undefined }, a: 1 },
  ];
  assert.equal(new Set(same.map(hashBody)).size, 1);
  const different = [{}, [], null, "", 0, { a: 1 }, { a: "1" }, [1, 2], [2, 1], [{ a: 1 }], "a"];
  assert.equal(new Set(different.map(hashBody)).size, different.length);
});

Deno.test("a hash is SHA-256 of the canonical JSON, so that it holds across versions", async () => {
  const text = '{"a":1,"b":{"c":[2]}}';
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  assert.equal(hashBody({ b: { c: [2] }, a: 1 }), new Uint8Array(digest).toHex());
  assert.equal(hashBody(undefined), hashBody(null), "a request without a body");
});

Deno.test("409 names the parameter that was used for another request", () => {
  const error = keyReused({ param: "client_request_id" });
  assert.deepEqual([error.code, error.param], ["idempotency_key_reused", "client_request_id"]);
  assert.match(error.message, /^This client_request_id was used for another request/);
});
