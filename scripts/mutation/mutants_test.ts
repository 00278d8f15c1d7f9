import assert from "node:assert/strict";
import { applyMutant, mutantsOf } from "./mutants.ts";

/** The mutated texts of one file. */
function mutated(text: string, path = "a.ts"): string[] {
  return mutantsOf(path, text).map((mutant) => applyMutant(text, mutant));
}

const CASES: [what: string, source: string, expected: string[]][] = [
  ["a comparison moves by one", "f(a < b)", ["f(a <= b)"]],
  ["so does one in the other direction", "f(a >= b)", ["f(a > b)"]],
  ["equality is turned round", "f(a !== b)", ["f(a === b)"]],
  ["arithmetic does the opposite", "f((a) * (b))", ["f((a) / (b))"]],
  ["&& becomes ||", "f(a && b)", ["f(a || b)"]],
  ["a default is dropped", "f((a) ?? b)", ["f((a) )"]],
  ["a negation is dropped", "f(!a, -b)", ["f(a, -b)", "f(!a, b)"]],
  ["a counter runs backwards", "f(a++, --b)", ["f(a--, --b)", "f(a++, ++b)"]],
  ["numbers grow by one", "f(1_000, 5n)", ["f(1001, 5n)", "f(1_000, 6n)"]],
  ["booleans flip", "f(true)", ["f(false)"]],
  ["strings are emptied, and empty ones filled", 'f("a", "")', ['f("", "")', 'f("a", "mutated")']],
  ["so are templates", "f(`a${b}`)", ['f("")']],
  ["smallest and greatest change places", "f(Math.min(a))", ["f(Math.max(a))"]],
  ["some and every change places", "f(a.some(b))", ["f(a.every(b))"]],
];

Deno.test("each rule makes the mistake it is for", () => {
  for (const [what, source, expected] of CASES) {
    const text = `const x = ${source};`;
    assert.deepEqual(mutated(text), expected.map((one) => `const x = ${one};`), what);
  }
});

Deno.test("a condition is set to true and to false, the condition of a loop to false", () => {
  assert.deepEqual(mutated("if (a === b) return;".replace("return", "f()")), [
    "if (true) f();",
    "if (false) f();",
  ]);
  assert.deepEqual(mutated("const x = !a ? b : c;"), [
    "const x = true ? b : c;",
    "const x = false ? b : c;",
  ]);
  assert.deepEqual(mutated("while (a()) {}"), ["while (false) {}"]);
  assert.deepEqual(mutated("for (;;) {}"), []);
});

Deno.test("statements are removed, but not what an if without them would be", () => {
  assert.deepEqual(mutated("f(); throw e;"), ["; throw e;", "f(); ;"]);
  assert.deepEqual(mutated("if (a) { f(); }"), ["if (true) { f(); }", "if (false) { f(); }"]);
  assert.ok(mutated("if (a) f(); else g();").includes("if (a) ; else g();"));
});

Deno.test("await is dropped where the difference can be seen", () => {
  assert.deepEqual(mutated("async function f() { const x = await g(); }"), [
    "async function f() { const x = g(); }",
  ]);
  assert.deepEqual(mutated("async () => { return await g(); };".replace(/^/, "const x = ")), []);
  assert.deepEqual(mutated("const x = async () => await g();"), []);
  const inCatch = (more = "") =>
    `const x = async () => { try { f; } catch { return await g(); }${more} };`;
  assert.equal(mutated(inCatch()).filter((text) => !text.includes("await")).length, 0);
  assert.equal(mutated(inCatch(" finally {}")).filter((text) => !text.includes("await")).length, 1);
  assert.ok(
    mutated("const x = async () => { return a ? await g() : b; };")
      .every((text) => text.includes("await")),
  );
  assert.deepEqual(
    mutated("const x = async () => { try { return await g(); } finally {} };"),
    ["const x = async () => { try { return g(); } finally {} };"],
  );
  assert.deepEqual(
    mutated("const x = async () => { using a = b; return await g(); };"),
    ["const x = async () => { using a = b; return g(); };"],
  );
});

Deno.test("types, imports, keys, SQL, logging and the wording of errors stay as they are", () => {
  for (
    const text of [
      'type A = "a" | 1 | true;',
      'import a from "a"; export * from "b";',
      "const x = { a, 'b': c };",
      "const x = sql`select 1`;",
      'deps.log?.warn("config listener failed", { a: 1 });',
      'class A { #log; a() { this.#log.info("started"); } }',
      "const x = new ApiError(code, `There is no ${a}.`);",
    ]
  ) {
    assert.deepEqual(mutated(text), [], text);
  }
  assert.deepEqual(mutated("const x = sql`select ${1}`;"), ["const x = sql`select ${2}`;"]);
  assert.deepEqual(mutated("const x = 1 as const;"), ["const x = 2 as const;"]);
});

Deno.test("a mutant knows its line, and pages are read too", () => {
  const text = "const x = (\n  <p>\n    {a < b}\n  </p>\n);";
  const [mutant] = mutantsOf("page.tsx", text);
  assert.equal(mutant!.line, 3);
  assert.equal(mutant!.context, "{a < b}");
});
