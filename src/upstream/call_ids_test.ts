import assert from "node:assert/strict";
import fc from "fast-check";
import { openCallIds, restoreCallIds } from "./call_ids.ts";

const key = new Uint8Array(32).fill(7);
const newer = new Uint8Array(32).fill(8);
const ids = openCallIds(() => [key]);
/** A node that remembers nothing. */
const other = () => openCallIds(() => [key]);
const HERE = "https://one.example.com/v1";
const USUAL = /^call_[A-Za-z0-9]{35}$/;

const SHAPES = [
  "toolu_01D7FLrfh4GYq7yT1ULFeyMV",
  "toolu_bdrk_01D7FLrfh4GYq7yT1ULFeyMV",
  "toolu_vrtx_01D7FLrfh4GYq7yT1ULFeyMV",
  "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q",
  "call_abcDEF0123456789abcDEF01",
  "call_4895ae1eb8afa93c",
  "call_00_ZqxGmCtGIz8tDMiHzVPuTPcY",
  "chatcmpl-tool-0123456789abcdef0123456789abcdef",
  "functions.get_weather:0",
  "fc-1",
  "D681PevKs",
  "0",
  "000000",
];

Deno.test("ids of all providers become 40 characters of one format, and can be decoded", () => {
  const shown = SHAPES.map((id) => ids.show(id, HERE));
  for (const [at, id] of shown.entries()) {
    assert.match(id, USUAL, SHAPES[at]);
    assert.equal(ids.restore(id, HERE), SHAPES[at]);
    assert.equal(other().restore(id, HERE), SHAPES[at]);
    assert.equal(ids.show(SHAPES[at]!, HERE), id, "the same each time");
  }
  assert.equal(new Set(shown).size, SHAPES.length);
});

Deno.test("any id can be decoded, except one that is too long", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (id) => {
    const shown = ids.show(id, HERE);
    if (id === "") return assert.equal(shown, "");
    assert.match(shown, /^call_[A-Za-z0-9]{35,}$/);
    const restored = other().restore(shown, HERE);
    assert.ok(restored === id || (restored === shown && shown.length === 40), JSON.stringify(id));
    if (id.length <= 60) assert.equal(restored, id);
  }));
});

Deno.test("ids that are not ours are unchanged", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 100 }), (id) => {
    assert.equal(ids.restore(id, HERE), id);
  }));
  fc.assert(fc.property(fc.stringMatching(/^call_[A-Za-z0-9]{35}$/), (id) => {
    assert.equal(ids.restore(id, HERE), id);
  }));
  const shown = ids.show(SHAPES[0]!, HERE);
  for (let at = 5; at < shown.length; at++) {
    const changed = shown.slice(0, at) + (shown[at] === "a" ? "b" : "a") + shown.slice(at + 1);
    assert.equal(ids.restore(changed, HERE), changed);
  }
});

Deno.test("another upstream gets our id, and no other upstream's", () => {
  const shown = ids.show(SHAPES[0]!, HERE);
  assert.equal(ids.restore(shown, "https://two.example.com/v1"), shown);
  assert.equal(other().restore(shown, "https://two.example.com/v1"), shown);
  assert.notEqual(ids.show(SHAPES[0]!, "https://two.example.com/v1"), shown);
});

Deno.test("ids of an older key can be decoded while the key is kept", () => {
  const shown = ids.show(SHAPES[0]!, HERE);
  assert.equal(openCallIds(() => [newer, key]).restore(shown, HERE), SHAPES[0]);
  assert.equal(openCallIds(() => [newer]).restore(shown, HERE), shown);
});

Deno.test("a call and its result keep one id, however many there are", () => {
  const count = 1_200;
  const shown = Array.from({ length: count }, (_, n) => ids.show(`toolu_01${n}`, HERE));
  const messages = [
    { role: "assistant", tool_calls: shown.map((id) => ({ id, type: "function" })) },
    ...shown.toReversed().map((tool_call_id) => ({ role: "tool", tool_call_id, content: "" })),
  ];
  // deno-lint-ignore no-explicit-any
  const sent: any = restoreCallIds(ids, { model: "m", messages }, HERE).messages;
  const called = sent[0].tool_calls.map(({ id }: { id: string }) => id);
  const results = sent.slice(1).map((message: { tool_call_id: string }) => message.tool_call_id);
  assert.deepEqual(results.toReversed(), called);
  assert.equal(new Set(called).size, count);
  assert.equal(called[0], "toolu_010");
});
