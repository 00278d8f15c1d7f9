import assert from "node:assert/strict";
import { openThinkingSeals, restoreThinking } from "./thinking_seals.ts";

const [old, current] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const HERE = "https://one.test/v1";

Deno.test("a signature opens for its own upstream only, also after a new key", () => {
  const shown = openThinkingSeals(() => [old]).show("signature", HERE);
  assert.ok(!atob(shown).includes("signature"));
  const seals = openThinkingSeals(() => [current, old]);
  assert.equal(seals.restore(shown, HERE), "signature");
  assert.equal(seals.restore(shown, "https://two.test/v1"), null);
  assert.equal(openThinkingSeals(() => [current]).restore(shown, HERE), null);
  for (
    const odd of [
      "",
      "x",
      shown.slice(0, -8),
      `${shown.startsWith("A") ? "B" : "A"}${shown.slice(1)}`,
      "not base64 at all, but long enough",
    ]
  ) {
    assert.equal(seals.restore(odd, HERE), null, odd);
  }
});

Deno.test("reasoning of another upstream loses its signature, redacted reasoning is left out", () => {
  const seals = openThinkingSeals(() => [current]);
  const content = [
    { type: "thinking", thinking: "Hm.", signature: seals.show("s", HERE) },
    { type: "redacted_thinking", data: seals.show("d", HERE) },
    { type: "text", text: "So." },
  ];
  const request = { model: "m", messages: [{ role: "assistant", content }] };
  const contentFor = (origin: string) =>
    restoreThinking(seals, request, origin).messages[0]!.content;
  assert.deepEqual(contentFor(HERE), [
    { type: "thinking", thinking: "Hm.", signature: "s" },
    { type: "redacted_thinking", data: "d" },
    { type: "text", text: "So." },
  ]);
  assert.deepEqual(contentFor("https://two.test/v1"), [
    { type: "thinking", thinking: "Hm." },
    { type: "text", text: "So." },
  ]);
  const plain = { model: "m", messages: [{ role: "user", content: "Hello" }] };
  assert.equal(restoreThinking(seals, plain, HERE), plain);
});
