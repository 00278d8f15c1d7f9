import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../lib/api_error.ts";
import { scanJson } from "./scan_json.ts";

const scan = (text: string, depthMax: number, valuesMax: number): string => {
  try {
    scanJson(new TextEncoder().encode(text), { depthMax, valuesMax });
    return "ok";
  } catch (error) {
    return (error as ApiError).code;
  }
};

function count(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const parts = Object.values(value);
  return Math.max(parts.length, 1) + parts.reduce<number>((sum, part) => sum + count(part), 0);
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

Deno.test("values and levels are counted as they are after parsing, whatever strings hold", () => {
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 6 }).map((text) => [text, JSON.parse(text)] as const),
      ([text, value]) => {
        const values = count(value) + 1;
        const depth = depthOf(value);
        assert.equal(scan(text, depth, values), "ok");
        if (values > 1) assert.equal(scan(text, 100, values - 1), "payload_too_large");
        if (depth > 1) assert.equal(scan(text, depth - 2, values), "invalid_json");
      },
    ),
  );
});

Deno.test("brackets in strings, escaped quotes and broken texts are no structure", () => {
  assert.equal(scan('{"a":"[[[[{{{{,,,,\\"[[[["}', 1, 3), "ok");
  assert.equal(scan('"\\\\",[[[', 0, 100), "invalid_json");
  assert.equal(scan('"never ends [[[[[', 0, 1), "ok");
});
