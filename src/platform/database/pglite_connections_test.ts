import assert from "node:assert/strict";
import { MessageSplitter } from "./pglite_connections.ts";

/** A startup message, a query of some length, a sync. */
function conversation(): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode("select 'ü'\0");
  const startup = [0, 0, 0, 9, 0, 3, 0, 0, 0];
  const query = [0x51, 0, 0, 0, 4 + text.length, ...text];
  const sync = [0x53, 0, 0, 0, 4];
  return new Uint8Array([...startup, ...query, ...sync]);
}

Deno.test("messages are split correctly, however the bytes arrive", () => {
  const whole = conversation();
  const expected = [9, 17, 5];
  for (let size = 1; size <= whole.length; size++) {
    const splitter = new MessageSplitter();
    const messages: Uint8Array[] = [];
    for (let at = 0; at < whole.length; at += size) {
      for (const message of splitter.add(whole.slice(at, at + size))) {
        assert.ok(message !== "cancel");
        messages.push(message);
      }
    }
    assert.deepEqual(messages.map(({ length }) => length), expected, `in pieces of ${size}`);
    assert.deepEqual(messages.flatMap((message) => [...message]), [...whole]);
  }
});

Deno.test("a cancel request in place of a startup message is recognized", () => {
  const cancel = new Uint8Array(16);
  const view = new DataView(cancel.buffer);
  view.setUint32(0, 16);
  view.setUint32(4, 80_877_102);
  assert.deepEqual([...new MessageSplitter().add(cancel)], ["cancel"]);
});
