import assert from "node:assert/strict";
import { describeJsonError } from "./json_error.ts";

function fault(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return describeJsonError(text, error);
  }
  return "";
}

Deno.test("a fault in JSON is told with its place", () => {
  const early = (place: string) =>
    `The body is not valid JSON: it ends too early, at ${place}. A quote or a bracket is open.`;
  const wrong = (place: string, reason: string) =>
    `The body is not valid JSON, at ${place}: ${reason}.`;
  for (
    const [text, message] of [
      ["", "The body is empty: send a JSON object."],
      [" \n", "The body is empty: send a JSON object."],
      ["{", early("line 1, column 2")],
      ['{"a":\n', early("line 2, column 1")],
      ['{"a": "b', early("line 1, column 9")],
      ['{"a": 1,}', wrong("line 1, column 9", "expected double-quoted property name")],
      [
        '{\n  "a": 1\n  "b": 2}',
        wrong("line 3, column 3", "expected ',' or '}' after property value"),
      ],
      ["{'a': 1}", wrong("line 1, column 2", "expected property name or '}'")],
      ["{} x", wrong("line 1, column 4", "unexpected non-whitespace character")],
      ["hello", wrong("line 1, column 1", 'unexpected "h"')],
      ["[1,]", wrong("line 1, column 4", 'unexpected "]"')],
      ["[,1]", wrong("line 1, column 2", 'unexpected ","')],
      ['{"a":}', wrong("line 1, column 6", 'unexpected "}"')],
      ['{"a": "\\"[", "b":\n undefined}', wrong("line 2, column 2", 'unexpected "u"')],
      ['{"a": [], "b": {}, "c": -1.5e3, "d": 😀}', wrong("line 1, column 38", 'unexpected "😀"')],
      ['{"a": tru}', wrong("line 1, column 7", 'unexpected "t"')],
    ] as const
  ) {
    assert.equal(fault(text), message, text);
  }
});

Deno.test("the search for a fault has an end", () => {
  assert.equal(fault(`[${"1,".repeat(1_000_000)}x]`), "The body is not valid JSON.");
  const image = "A".repeat(1_000_000);
  assert.match(fault(`["${image}" 1]`), /at line 1, column 1000005: expected ',' or ']'/);
});
