import assert from "node:assert/strict";

const messageOf = (text: string) => {
  try {
    JSON.parse(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`${text} is valid JSON`);
};

Deno.test("v8: JSON.parse names the position of a syntax error", () => {
  // src/http/json_error.ts takes the reason and the position from the message.
  const form = /^(.+?)(?: (?:in|after) JSON)? at position (\d+)/;
  for (const [text, position] of [['{"a":1,}', 7], ['{"a" 1}', 5], ["[1 2]", 3], ['{"a":1}}', 7]]) {
    assert.equal(
      Number(form.exec(messageOf(String(text)))?.[2]),
      position,
      messageOf(String(text)),
    );
  }
});
