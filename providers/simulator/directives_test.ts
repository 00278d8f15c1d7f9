import assert from "node:assert/strict";
import { parseOrders, takeDirectives } from "./directives.ts";

Deno.test("orders are names and values, parted by commas, semicolons or spaces", () => {
  assert.deepEqual(parseOrders("pace=20ms, latency=1.5s;cut  no_usage,directives=off"), {
    pace: 20,
    latency: 1500,
    cut: 3,
    no_usage: true,
    directives: false,
  });
  assert.deepEqual(parseOrders(""), {});
});

Deno.test("orders in a message are taken out of it", () => {
  assert.deepEqual(
    takeDirectives("Tell me [[simulate: status=500]] of tides. [[simulate: name=x]]"),
    {
      orders: { status: 500, name: "x" },
      rest: "Tell me of tides.",
    },
  );
  assert.deepEqual(takeDirectives("[[a]]  [[b]]"), { orders: {}, rest: "[[a]]  [[b]]" });
});

Deno.test("an order that means nothing is refused", () => {
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
    assert.throws(() => parseOrders(text), /^Error: Cannot simulate: /, text);
  }
});
