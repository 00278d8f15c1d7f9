import assert from "node:assert/strict";
import { escapeReferences, fillReferences } from "./references.ts";
import { withSecretFiles } from "./secret_files.ts";

const fill = (raw: string, environment: Record<string, string> = {}) =>
  fillReferences(raw, environment);

Deno.test("references are filled in anywhere in a string", () => {
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

Deno.test("references inside a variable's value are not filled in", () => {
  assert.equal(fill("${A}", { A: "${B} $${C}", B: "no" }).text, "${B} $${C}");
});

Deno.test("a string is a reference when it consists of references only", () => {
  for (const raw of ["${A}", "${A}${B}", "${C:-x}"]) {
    assert.equal(fill(raw, { A: "1", B: "2" }).isReference, true, raw);
  }
  for (const raw of ["", "a", "${A}a", "a${A}", "${A} ${A}", "$${A}"]) {
    assert.equal(fill(raw, { A: "1" }).isReference, false, raw);
  }
});

Deno.test("a reference that cannot be filled in gives an issue and an empty string", () => {
  for (
    const [raw, message] of [
      ["${A}", "the environment variable A is not set"],
      ["${EMPTY}", "the environment variable EMPTY is empty"],
      ["${}", "${} is not a reference to an environment variable or a file"],
      ["${1A}", "${1A} is not a reference to an environment variable or a file"],
      ["${A-b}", "${A-b} is not a reference to an environment variable or a file"],
      ["${A", "the reference ${A is not closed with }"],
      ["${A:-${B}}", "a reference must not contain another reference"],
      ["x".repeat(65_537), "is longer than 65,536 characters"],
    ]
  ) {
    const { text, issues } = fill(raw!, { EMPTY: "" });
    assert.deepEqual([text, issues.map((issue) => issue.message)], ["", [message]], raw);
  }
});

Deno.test("a variable that is missing twice in one string is reported once", () => {
  assert.equal(fill("${A} ${A} ${B}").issues.length, 2);
});

Deno.test("a short string cannot expand into a long one", () => {
  const { text, issues } = fill("${A}".repeat(10_000), { A: "x".repeat(100_000) });
  assert.deepEqual([text, issues.length], ["", 1]);
});

Deno.test("names of JavaScript's own objects are not set", () => {
  assert.equal(
    fill("${constructor}").issues[0]?.message,
    "the environment variable constructor is not set",
  );
  assert.equal(fill("${__proto__:-x}").text, "x");
});

Deno.test("a reference may name a file, whose content is the value", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const file = `${folder}/key`;
    const fillFromFile = (raw: string) => fillReferences(raw, withSecretFiles({ A: "1" }));
    assert.deepEqual(
      fillFromFile(`\${file:${file}}`).issues.map(({ message }) => message),
      [`the file ${file} cannot be read`],
    );
    assert.equal(fillFromFile(`\${file:${file}:-none}`).text, "none");
    Deno.writeTextFileSync(file, "sk-1 \n");
    assert.deepEqual(
      fillFromFile(`\${file:${file}}`),
      { text: "sk-1 ", isReference: true, files: [file], issues: [] },
    );
    assert.equal(fillFromFile(`\${A}-\${file:${file}}`).text, "1-sk-1 ");
    Deno.writeTextFileSync(file, "");
    assert.match(fillFromFile(`\${file:${file}}`).issues[0]!.message, /is empty$/);
    assert.match(fillFromFile(`\${file:${folder}}`).issues[0]!.message, /cannot be read$/);
    Deno.writeTextFileSync(file, "x".repeat(65_537));
    assert.match(fillFromFile(`\${file:${file}}`).issues[0]!.message, /cannot be read$/);
    assert.match(fillFromFile("${file:key}").issues[0]!.message, /is not a reference/);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("an escaped text stands for itself", () => {
  for (const text of ["", "a", "${A}", "$${A}", "$$${A", "${", "$", "${${", "a ${A} b ${B:-c}"]) {
    assert.deepEqual(fillReferences(escapeReferences(text), { A: "1" }), {
      text,
      isReference: false,
      files: [],
      issues: [],
    });
  }
});
