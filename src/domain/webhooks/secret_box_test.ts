import assert from "node:assert/strict";
import { openSecretBox } from "./secret_box.ts";

const KEY = "an operator's key of 32 or more characters";

Deno.test("a sealed secret opens with its key and in its row only", () => {
  const secretBox = openSecretBox(KEY);
  const stored = secretBox.close("whsec_abc", "whs_1");
  assert.ok(!stored.includes("abc"));
  assert.notEqual(stored, secretBox.close("whsec_abc", "whs_1"), "never the same twice");
  assert.equal(openSecretBox(KEY).open(stored, "whs_1"), "whsec_abc");
  assert.throws(() => secretBox.open(stored, "whs_2"));
  assert.throws(() => openSecretBox(`${KEY}!`).open(stored, "whs_1"));
  assert.throws(() => openSecretBox(undefined).open(stored, "whs_1"), /SECRETS_KEY/);
  assert.throws(() => secretBox.open(`${stored.slice(0, -4)}AAAA`, "whs_1"));
});

Deno.test("without a key secrets stand as they are, and stay readable when one is set", () => {
  const stored = openSecretBox(undefined).close("whsec_abc", "whs_1");
  assert.equal(stored, "whsec_abc");
  assert.equal(openSecretBox(KEY).open(stored, "whs_1"), "whsec_abc");
});
