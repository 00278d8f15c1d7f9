import assert from "node:assert/strict";
import { disagreements, fingerprint, type NodeFingerprints } from "./agreement.ts";

const node = (different: Partial<NodeFingerprints> = {}): NodeFingerprints => ({
  secrets_keys: ["k1"],
  admin_token: "t1",
  file_store: "s3:https://s3.example/files",
  ...different,
});
const reasonsFor = (own: Partial<NodeFingerprints>, other: Partial<NodeFingerprints> = {}) =>
  disagreements(node(own), node(other)).map((reason) => reason.split(":")[0]);

Deno.test("nodes with the same secrets and files agree", () => {
  assert.deepEqual(reasonsFor({}), []);
  assert.deepEqual(reasonsFor({ secrets_keys: [] }, { secrets_keys: [] }), []);
});

Deno.test("every step of a change of keys agrees with the step before", () => {
  const steps = [["k1"], ["k1", "k2"], ["k2", "k1"], ["k2"]];
  for (const [at, step] of steps.entries()) {
    const before = steps[Math.max(0, at - 1)]!;
    assert.deepEqual(reasonsFor({ secrets_keys: step }, { secrets_keys: before }), []);
    assert.deepEqual(reasonsFor({ secrets_keys: before }, { secrets_keys: step }), []);
  }
});

Deno.test("a node that seals what another one cannot open does not agree, in either direction", () => {
  for (const own of [["k2"], ["k2", "k1"], []]) {
    assert.deepEqual(reasonsFor({ secrets_keys: own }), ["SECRETS_KEY"]);
    assert.deepEqual(reasonsFor({}, { secrets_keys: own }), ["SECRETS_KEY"]);
  }
});

Deno.test("another admin token and another store are named", () => {
  assert.deepEqual(
    reasonsFor({ admin_token: "t2", file_store: "local:x" }),
    ["ADMIN_TOKEN", "storage.files"],
  );
});

Deno.test("a fingerprint is short and the same every time", () => {
  assert.match(fingerprint("a secret"), /^[0-9a-f]{10}$/);
  assert.equal(fingerprint("a secret"), fingerprint("a secret"));
  assert.notEqual(fingerprint("a secret"), fingerprint("b secret"));
});
