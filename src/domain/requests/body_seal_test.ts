import assert from "node:assert/strict";
import { BodySeal } from "./body_seal.ts";

const [OLD, NEW] = ["o".repeat(32), "n".repeat(32)];
const TEXT = new TextEncoder().encode("Hello");

Deno.test("a sealed body is read with its key and at its place only", () => {
  const seal = new BodySeal([OLD]);
  const sealed = seal.seal(TEXT, "req_1 request");
  assert.ok(!sealed.includes("Hello"));
  assert.deepEqual(new Uint8Array(seal.open(sealed, "req_1 request")!), TEXT);
  assert.equal(seal.open(sealed, "req_2 request"), null);
  assert.equal(seal.open(sealed, "req_1 response"), null);
  assert.equal(new BodySeal([NEW]).open(sealed, "req_1 request"), null);
  assert.notDeepEqual(seal.seal(TEXT, "req_1 request"), sealed);
});

Deno.test("the first key seals, all open", () => {
  const sealed = new BodySeal([OLD]).seal(TEXT, "req_1 request");
  const both = new BodySeal([NEW, OLD]);
  assert.deepEqual(new Uint8Array(both.open(sealed, "req_1 request")!), TEXT);
  assert.equal(new BodySeal([OLD]).open(both.seal(TEXT, "req_1 request"), "req_1 request"), null);
  assert.deepEqual([both.hasKey, new BodySeal([]).hasKey], [true, false]);
});
