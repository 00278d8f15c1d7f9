import assert from "node:assert/strict";
import { openSecretBox } from "./secret_box.ts";

const KEY = "an operator's key of 32 or more characters";

Deno.test("a sealed secret opens with its key and in its row only", () => {
  const secretBox = openSecretBox(KEY);
  const stored = secretBox.seal("whsec_abc", "whs_1");
  assert.ok(!stored.includes("abc"));
  assert.notEqual(stored, secretBox.seal("whsec_abc", "whs_1"), "never the same twice");
  assert.equal(openSecretBox(KEY).unseal(stored, "whs_1"), "whsec_abc");
  assert.throws(() => secretBox.unseal(stored, "whs_2"));
  assert.throws(() => openSecretBox(`${KEY}!`).unseal(stored, "whs_1"));
  assert.throws(() => openSecretBox(undefined).unseal(stored, "whs_1"), /SECRETS_KEY/);
  assert.throws(() => secretBox.unseal(`${stored.slice(0, -4)}AAAA`, "whs_1"));
});

Deno.test("what was sealed by an earlier version opens: the format does not change", () => {
  const stored = "sealed_v1:gbr4ydN07xe/+OWFKyFSBOgNbOYA24Wu4HJCFbYLaSotIHFDqA==";
  assert.equal(openSecretBox(KEY).unseal(stored, "whs_1"), "whsec_abc");
});

Deno.test("without a key secrets stand as they are, and stay readable when one is set", () => {
  const stored = openSecretBox(undefined).seal("whsec_abc", "whs_1");
  assert.equal(stored, "whsec_abc");
  assert.equal(openSecretBox(KEY).unseal(stored, "whs_1"), "whsec_abc");
});
