import assert from "node:assert/strict";
import { newId } from "../../lib/ids.ts";
import { noteBody } from "./note_body.ts";
import { OpenRequest } from "./open_request.ts";

function noted(body: unknown) {
  const start = { requestId: newId("req"), startedAt: 0, method: "POST", clientRequestId: null };
  const request = new OpenRequest({ add() {} }, start, { account: "acc_1", key: null }, "chat");
  noteBody(request, body);
  const { model, user, metadata, isStream } = request;
  return { model, user, metadata, isStream };
}

Deno.test("model, user, metadata and stream of a body are noted", () => {
  const metadata = { order: "17", retry: true, score: 0.5 };
  const body = { model: "talk", user: "u-1", metadata, stream: true, messages: [] };
  assert.deepEqual(noted(body), { model: "talk", user: "u-1", metadata, isStream: true });
});

Deno.test("a body that is anything else is no reason to fail", () => {
  const nothing = { model: null, user: null, metadata: null, isStream: false };
  for (
    const body of [
      ...[undefined, null, "text", 7, [], {}],
      ...[{ model: 1, user: {}, metadata: 5 }, { metadata: "text" }, { metadata: {} }],
    ]
  ) {
    assert.deepEqual(noted(body), nothing, JSON.stringify(body));
  }
});

Deno.test("what is too long or cannot be stored is left out", () => {
  const long = "x".repeat(257);
  const { model, user } = noted({ model: long, user: "half \ud83d" });
  assert.deepEqual([model, user], [null, null]);
  const { metadata } = noted({
    metadata: {
      nul: "a\0b",
      long: "x".repeat(513),
      fits: "x".repeat(512),
      list: [1],
      ["n".repeat(65)]: "x",
    },
  });
  assert.deepEqual(Object.keys(metadata!), ["fits"]);
});

Deno.test("of many pairs the first 16 are kept", () => {
  const pairs = Array.from({ length: 20 }, (_, n) => [`name${n}`, "value"]);
  assert.equal(Object.keys(noted({ metadata: Object.fromEntries(pairs) }).metadata!).length, 16);
});
