import assert from "node:assert/strict";
import plugin from "./lint_rules.ts";

function lint(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, `/home/somebody/tollgate/${file}`, source).map(({ message }) =>
    message
  );
}

Deno.test("an import that points up is caught", () => {
  const [message, ...others] = lint(
    "src/base/money.ts",
    `import { open } from "../store/postgres.ts";`,
  );
  assert.match(message ?? "", /points up: src\/base is layer 0, src\/store is layer 1/);
  assert.deepEqual(others, []);
});

Deno.test("an import between neighbours of one layer is caught", () => {
  assert.match(lint("src/limits/a.ts", `import "../accounts/b.ts";`)[0] ?? "", /points sideways/);
  assert.match(lint("src/http/a.ts", `export * from "../site/b.ts";`)[0] ?? "", /points sideways/);
});

Deno.test("re-exports, type imports and dynamic imports are imports", () => {
  assert.equal(lint("src/base/a.ts", `export { b } from "../config/b.ts";`).length, 1);
  assert.equal(lint("src/base/a.ts", `import type { B } from "../config/b.ts";`).length, 1);
  assert.equal(lint("src/base/a.ts", `await import("../config/b.ts");`).length, 1);
});

Deno.test("imports that point down, stay in the folder or name a package pass", () => {
  assert.deepEqual(
    lint("src/http/endpoints/a.ts", `import "../../accounts/b.ts"; import "../guard.ts";`),
    [],
  );
  assert.deepEqual(lint("src/base/a.ts", `import "hono"; import "./b.ts"; import "node:fs";`), []);
  assert.deepEqual(
    lint("src/cli/a.ts", `import "../environment.ts"; import "../http/app.ts";`),
    [],
  );
});

Deno.test("a provider sees its contract and the ground only", () => {
  assert.deepEqual(lint("providers/x/adapter.ts", `import "../../src/upstream/adapter.ts";`), []);
  assert.deepEqual(lint("providers/x/adapter.ts", `import "../../src/base/money.ts";`), []);
  assert.equal(lint("providers/x/adapter.ts", `import "../../src/upstream/call.ts";`).length, 1);
});

Deno.test("only the composition root names providers", () => {
  assert.deepEqual(lint("src/known.ts", `import "../providers/registry.ts";`), []);
  assert.equal(lint("src/http/a.ts", `import "../../providers/registry.ts";`).length, 1);
});

Deno.test("a folder without a layer is told to get one", () => {
  assert.match(lint("src/utils/a.ts", `import "../base/b.ts";`)[0] ?? "", /has no layer/);
});

Deno.test("tests may import anything", () => {
  assert.deepEqual(lint("src/base/a_test.ts", `import "../http/app.ts";`), []);
});

Deno.test("a file over 300 lines is caught, one of 300 is not", () => {
  assert.deepEqual(lint("src/base/a.ts", "export {};\n".repeat(300)), []);
  assert.match(lint("src/base/a.ts", "export {};\n".repeat(301))[0] ?? "", /301 lines/);
});
