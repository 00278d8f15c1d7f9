import assert from "node:assert/strict";
import { newId, timeOfId } from "./ids.ts";

Deno.test("an id has the time it was made at, to the millisecond", () => {
  for (const ms of [0, 1, Date.now(), 2 ** 48 - 1]) assert.equal(timeOfId(newId("req", ms)), ms);
});

Deno.test("a text that is no id has no time", () => {
  const id = newId("req", 0);
  for (
    const text of ["", "req_", "nothing", id.slice(1 + "req_".length), id.slice(0, -1), `${id}0`]
  ) {
    assert.equal(timeOfId(text), null, text);
  }
  assert.equal(timeOfId(id.replace("_0", "_8")), null, "beyond 48 bits");
  assert.equal(timeOfId(id.replace("_00", "_0u")), null, "not a digit");
});
