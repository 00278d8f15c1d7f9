import assert from "node:assert/strict";
import { parseDocument } from "yaml";

Deno.test("yaml: an open quote has the code MISSING_CHAR and a message that names the closing quote", () => {
  for (const quote of [`"`, `'`]) {
    const [error] = parseDocument(`a: ${quote}text\nb: 1\n`).errors;
    assert.equal(error?.code, "MISSING_CHAR");
    assert.match(error.message, /closing ["']/);
  }
});
