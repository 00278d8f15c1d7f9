import assert from "node:assert/strict";
import { parseDirectives, takeDirectives } from "./directives.ts";

Deno.test("directives are names and values, parted by commas, semicolons or spaces", () => {
  assert.deepEqual(parseDirectives("pace=20ms, latency=1.5s;cut  no_usage,directives=off"), {
    pace: 20,
    latency: 1500,
    cut: 3,
    no_usage: true,
    directives: false,
  });
  assert.deepEqual(parseDirectives(""), {});
});

Deno.test("directives in a message are taken out of it", () => {
  assert.deepEqual(
    takeDirectives("Tell me [[simulate: status=500]] of tides. [[simulate: name=x]]"),
    {
      directives: { status: 500, name: "x" },
      rest: "Tell me of tides.",
    },
  );
  assert.deepEqual(takeDirectives("[[a]]  [[b]]"), { directives: {}, rest: "[[a]]  [[b]]" });
});

Deno.test("an directive that means nothing is refused", () => {
  for (
    const text of [
      "dance",
      "constructor=1",
      "pace=fast",
      "pace=11000s",
      "status=200",
      "cut=-1",
      "tokens",
      "endless=3",
      "name=",
      "directives=maybe",
    ]
  ) {
    assert.throws(() => parseDirectives(text), /^Error: Cannot simulate: /, text);
  }
});
