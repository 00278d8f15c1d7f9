import assert from "node:assert/strict";
import { fillReferences } from "./references.ts";

const fill = (raw: string, environment: Record<string, string> = {}) =>
  fillReferences(raw, environment);

Deno.test("references are filled in wherever they stand", () => {
  const environment = { A: "1", B: "2", EMPTY: "" };
  for (
    const [raw, text] of [
      ["plain", "plain"],
      ["", ""],
      ["${A}", "1"],
      ["${A}${B}", "12"],
      ["x${A}y${B}z", "x1y2z"],
      ["${C:-three}", "three"],
      ["${C:-}", ""],
      ["${EMPTY:-full}", "full"],
      ["${C:-a:-b}", "a:-b"],
      ["$A $ {A} $", "$A $ {A} $"],
      ["$${A}", "${A}"],
      ["$$${A}", "$${A}"],
      ["$${A}${A}", "${A}1"],
    ]
  ) assert.deepEqual([raw, fill(raw!, environment).text], [raw, text]);
});

Deno.test("what a variable holds is not read again", () => {
  assert.equal(fill("${A}", { A: "${B} $${C}", B: "no" }).text, "${B} $${C}");
});

Deno.test("a text counts as a reference when the file itself says nothing", () => {
  for (const raw of ["${A}", "${A}${B}", "${C:-x}"]) {
    assert.equal(fill(raw, { A: "1", B: "2" }).isReference, true, raw);
  }
  for (const raw of ["", "a", "${A}a", "a${A}", "${A} ${A}", "$${A}"]) {
    assert.equal(fill(raw, { A: "1" }).isReference, false, raw);
  }
});

Deno.test("what cannot be filled in says why, and is left empty", () => {
  for (
    const [raw, message] of [
      ["${A}", "the environment variable A is not set"],
      ["${EMPTY}", "the environment variable EMPTY is empty"],
      ["${}", "${} is not a reference to an environment variable"],
      ["${1A}", "${1A} is not a reference to an environment variable"],
      ["${A-b}", "${A-b} is not a reference to an environment variable"],
      ["${A", "the reference ${A is not closed with }"],
      ["${A:-${B}}", "a reference may not stand inside another"],
      ["x".repeat(65_537), "is longer than 65,536 characters"],
    ]
  ) {
    const { text, faults } = fill(raw!, { EMPTY: "" });
    assert.deepEqual([text, faults.map((fault) => fault.message)], ["", [message]], raw);
  }
});

Deno.test("a variable that is missing twice from one text is named once", () => {
  assert.equal(fill("${A} ${A} ${B}").faults.length, 2);
});

Deno.test("a short text cannot become a long one", () => {
  const { text, faults } = fill("${A}".repeat(10_000), { A: "x".repeat(100_000) });
  assert.deepEqual([text, faults.length], ["", 1]);
});

Deno.test("names of JavaScript's own objects are not set", () => {
  assert.equal(
    fill("${constructor}").faults[0]?.message,
    "the environment variable constructor is not set",
  );
  assert.equal(fill("${__proto__:-x}").text, "x");
});
