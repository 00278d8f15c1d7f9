import assert from "node:assert/strict";
import { openSecretBox } from "./secret_box.ts";
import { UnreadableSecret } from "./types.ts";

const KEY = "an operator's key of 32 or more characters";

Deno.test("a sealed secret opens with its key and in its row only", () => {
  const secretBox = openSecretBox([KEY]);
  const stored = secretBox.seal("whsec_abc", "whs_1");
  assert.ok(!stored.includes("abc"));
  assert.notEqual(stored, secretBox.seal("whsec_abc", "whs_1"), "never the same twice");
  assert.equal(openSecretBox([KEY]).unseal(stored, "whs_1"), "whsec_abc");
  assert.throws(() => secretBox.unseal(stored, "whs_2"));
  assert.throws(() => openSecretBox([`${KEY}!`]).unseal(stored, "whs_1"));
  assert.throws(() => openSecretBox([]).unseal(stored, "whs_1"), /SECRETS_KEY/);
  assert.throws(() => secretBox.unseal(`${stored.slice(0, -4)}AAAA`, "whs_1"));
});

Deno.test("what was sealed by an earlier version opens: the format does not change", () => {
  const stored = "sealed_v1:gbr4ydN07xe/+OWFKyFSBOgNbOYA24Wu4HJCFbYLaSotIHFDqA==";
  assert.equal(openSecretBox([KEY]).unseal(stored, "whs_1"), "whsec_abc");
});

Deno.test("without a key secrets stand as they are, and stay readable when one is set", () => {
  const stored = openSecretBox([]).seal("whsec_abc", "whs_1");
  assert.equal(stored, "whsec_abc");
  assert.equal(openSecretBox([KEY]).unseal(stored, "whs_1"), "whsec_abc");
});

Deno.test("of several keys the first seals and all open", () => {
  const earlier = openSecretBox([KEY]);
  const both = openSecretBox([`${KEY}, the new one`, KEY]);
  const old = earlier.seal("whsec_abc", "whs_1");
  const fresh = both.seal("whsec_abc", "whs_1");
  assert.equal(both.unseal(old, "whs_1"), "whsec_abc");
  assert.equal(both.unseal(fresh, "whs_1"), "whsec_abc");
  assert.throws(() => earlier.unseal(fresh, "whs_1"), UnreadableSecret);
  assert.deepEqual(
    [old, fresh, "whsec_abc"].map((stored) => both.isCurrent(stored, "whs_1")),
    [false, true, false],
  );
  assert.equal(openSecretBox([]).isCurrent("whsec_abc", "whs_1"), true);
});
