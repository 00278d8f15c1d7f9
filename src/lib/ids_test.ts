import assert from "node:assert/strict";
import { idPrefixAt, newId, timeOfId, timeOfIdPrefix } from "./ids.ts";

Deno.test("an id has the time it was made at, to the millisecond", () => {
  for (const ms of [0, 1, Date.now(), Date.UTC(9999, 11, 31, 23, 59, 59, 999)]) {
    assert.equal(timeOfId(newId("req", ms)), ms);
  }
});

Deno.test("a text that is no id has no time", () => {
  const id = newId("req", 0);
  for (
    const text of ["", "req_", "nothing", id.slice(1 + "req_".length), id.slice(0, -1), `${id}0`]
  ) {
    assert.equal(timeOfId(text), null, text);
  }
  assert.equal(timeOfId(id.replace("_0", "_8")), null, "beyond 48 bits");
  assert.equal(timeOfId(newId("req", Date.UTC(10_000, 0))), null, "beyond the year 9999");
  assert.equal(timeOfId(id.replace("_00", "_0u")), null, "not a digit");
});

Deno.test("ids of a moment begin with its prefix, which sorts after all earlier ids", () => {
  const now = Date.parse("2026-11-30T23:59:59.999Z");
  const prefix = idPrefixAt("req", now);
  assert.ok(newId("req", now).startsWith(prefix));
  assert.ok(newId("req", now - 1) < prefix);
  assert.ok(newId("req", now + 1) > prefix);
  assert.equal(timeOfIdPrefix(prefix), now);
  assert.equal(timeOfIdPrefix(`${newId("evt", now)}01`), now);
  assert.equal(timeOfIdPrefix("evt_test"), null);
});
