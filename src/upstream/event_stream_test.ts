import assert from "node:assert/strict";
import fc from "fast-check";
import { EventSplitter } from "./event_stream.ts";

const encoder = new TextEncoder();

function split(bytes: Uint8Array, cuts: number[] = []): { event: string | null; data: string }[] {
  const splitter = new EventSplitter();
  const places = [
    0,
    ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ];
  return places.slice(1).flatMap((to, at) => splitter.push(bytes.subarray(places[at], to)));
}

Deno.test("events are split at any kind of line end", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const text = [
      ": hello",
      "event: a",
      "data: 1",
      "",
      "data:2",
      "data: 3",
      "",
      "id: 7",
      "",
      "data: x",
    ].join(end);
    assert.deepEqual(split(encoder.encode(text)), [
      { event: "a", data: "1" },
      { event: null, data: "2\n3" },
    ]);
  }
});

Deno.test("a stream means the same wherever its bytes are cut", () => {
  fc.assert(fc.property(
    fc.array(
      fc.record({
        data: fc.string({ unit: "grapheme", maxLength: 40 }),
        end: fc.constantFrom("\n", "\r\n"),
      }),
    ),
    fc.array(fc.nat()),
    (events, cuts) => {
      const clean = events.map(({ data, end }) => ({ data: data.replace(/[\r\n]/g, ""), end }));
      const text = clean.map(({ data, end }) => `data: ${data}${end}${end}`).join("");
      const bytes = encoder.encode(text);
      assert.deepEqual(split(bytes, cuts).map(({ data }) => data), clean.map(({ data }) => data));
    },
  ));
});

Deno.test("a byte order mark is dropped at the beginning of a stream, and nowhere else", () => {
  for (const mark of ["", "\uFEFF"]) {
    const bytes = encoder.encode(`${mark}data: ab\uFEFFcd\n\n`);
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.deepEqual(split(bytes, [cut]), [{ event: null, data: "ab\uFEFFcd" }], `cut at ${cut}`);
    }
  }
});

Deno.test("an event of a megabyte comes whole, in many pieces", () => {
  const big = "ü".repeat(500_000);
  const bytes = encoder.encode(`data: ${big}\n\n`);
  const cuts = Array.from({ length: 100 }, (_, at) => at * 10_007);
  assert.deepEqual(split(bytes, cuts), [{ event: null, data: big }]);
});

Deno.test("an event without an end is an error", () => {
  const splitter = new EventSplitter();
  const chunk = encoder.encode("x".repeat(1024 * 1024));
  assert.throws(() => {
    splitter.push(encoder.encode("data: "));
    for (let i = 0; i < 20; i++) splitter.push(chunk);
  }, /does not end/);
});
