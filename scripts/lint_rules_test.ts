import assert from "node:assert/strict";
import plugin from "./lint_rules.ts";

function lint(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, `/home/dev/tollgate/${file}`, source).map(({ message }) =>
    message
  );
}

Deno.test("an import that points up is caught", () => {
  const [message, ...others] = lint(
    "src/lib/money.ts",
    `import { open } from "../platform/database/postgres.ts";`,
  );
  assert.match(message ?? "", /points up: src\/lib is layer 0, src\/platform\/database is layer 2/);
  assert.deepEqual(others, []);
});

Deno.test("an import between neighbours of one layer is caught", () => {
  assert.match(
    lint("src/domain/limits/a.ts", `import "../accounts/b.ts";`)[0] ?? "",
    /points sideways/,
  );
  assert.match(lint("src/http/a.ts", `export * from "../site/b.ts";`)[0] ?? "", /points sideways/);
});

Deno.test("re-exports, type imports and dynamic imports are imports", () => {
  assert.equal(lint("src/lib/a.ts", `export { b } from "../platform/config/b.ts";`).length, 1);
  assert.equal(lint("src/lib/a.ts", `import type { B } from "../platform/config/b.ts";`).length, 1);
  assert.equal(lint("src/lib/a.ts", `await import("../platform/config/b.ts");`).length, 1);
});

Deno.test("imports that point down, stay in the folder or name a package pass", () => {
  assert.deepEqual(
    lint(
      "src/http/endpoints/a.ts",
      `import "../../domain/accounts/b.ts"; import "../authenticate.ts";`,
    ),
    [],
  );
  assert.deepEqual(lint("src/lib/a.ts", `import "hono"; import "./b.ts"; import "node:fs";`), []);
  assert.deepEqual(
    lint("src/cli/a.ts", `import "../app/environment.ts"; import "../http/app.ts";`),
    [],
  );
});

Deno.test("a provider sees its contract and the library only", () => {
  assert.deepEqual(lint("providers/x/adapter.ts", `import "../../src/upstream/adapter.ts";`), []);
  assert.deepEqual(lint("providers/x/adapter.ts", `import "../../src/lib/money.ts";`), []);
  assert.equal(lint("providers/x/adapter.ts", `import "../../src/upstream/call.ts";`).length, 1);
});

Deno.test("only the composition root names providers", () => {
  assert.deepEqual(
    lint("src/app/build_capabilities.ts", `import "../../providers/registry.ts";`),
    [],
  );
  assert.equal(lint("src/http/a.ts", `import "../../providers/registry.ts";`).length, 1);
});

Deno.test("a folder without a layer is told to get one", () => {
  assert.match(lint("src/utils/a.ts", `import "../lib/b.ts";`)[0] ?? "", /has no layer/);
});

Deno.test("tests may import anything", () => {
  assert.deepEqual(lint("src/lib/a_test.ts", `import "../http/app.ts";`), []);
});

Deno.test("a file over 300 lines is caught, one of 300 is not", () => {
  assert.deepEqual(lint("src/lib/a.ts", "export {};\n".repeat(300)), []);
  assert.match(lint("src/lib/a.ts", "export {};\n".repeat(301))[0] ?? "", /301 lines/);
});

Deno.test("a function of more than 70 lines is caught, by its name, outside of tests", () => {
  const long = (lines: number) => `const tall = () => {\n${"run();\n".repeat(lines - 2)}};`;
  assert.deepEqual(lint("src/lib/a.ts", long(70)), []);
  assert.match(lint("src/lib/a.ts", long(71))[0] ?? "", /^tall has 71 lines/);
  assert.deepEqual(lint("src/lib/a_test.ts", long(71)), []);
});

Deno.test("more than four parameters are caught, in functions, methods and constructors", () => {
  assert.deepEqual(lint("src/lib/a.ts", "function f(a, b, c, d) {}"), []);
  assert.match(
    lint("src/lib/a.ts", "function f(a, b, c, d, e) {}")[0] ?? "",
    /^f has 5 parameters/,
  );
  assert.match(
    lint("test/helpers/a.ts", "class A { m(a, b, c, d, e) {} }")[0] ?? "",
    /^m has 5 parameters/,
  );
});

Deno.test("a banned word is caught in names, comments and texts, with the word to use", () => {
  assert.deepEqual(
    lint("src/lib/a.ts", `// the crew\nconst openPots = "an ailment";`),
    [
      `"crew" is not a word of this project: use worker pool`,
      `"pot" is not a word of this project: use balance bucket`,
      `"ailment" is not a word of this project: use problem`,
    ],
  );
});

Deno.test("a page that states a limit is caught, one that shows a value is not", () => {
  const stated = (source: string) => lint("src/site/pages/a.tsx", source).length;
  assert.equal(stated(`export const a = "Use at most 200 characters.";`), 1);
  assert.equal(stated("export const a = (b: string) => `${b} within 15 seconds`;"), 1);
  assert.equal(stated(`export const a = <p>It is retried for three days.</p>;`), 1);
  assert.equal(stated(`export const a = <input maxlength={200} />;`), 1);
  assert.equal(stated(`export const a = <input pattern="[a-z]" />;`), 1);
  assert.equal(stated("export const a = (days: number) => `${days} days`;"), 0);
  assert.equal(stated(`export const a = (max: number) => <input maxlength={max} rows={3} />;`), 0);
  assert.equal(lint("src/http/a.ts", `export const a = "15 seconds";`).length, 0);
  assert.equal(lint("src/site/a_test.ts", `export const a = "15 seconds";`).length, 0);
});
