import assert from "node:assert/strict";
import {
  checkAssertions,
  checkExports,
  checkFileNames,
  checkLinks,
  checkWords,
} from "./check_tree.ts";

Deno.test("a name that two files export is caught in both", () => {
  const sources = new Map([
    ["src/a.ts", "export function open() {}\nexport const size = 1;"],
    ["src/b.ts", "export async function open() {}\nexport { size } from './a.ts';"],
  ]);
  assert.deepEqual(checkExports(sources).map(({ path, name }) => [path, name]), [
    ["src/a.ts", "open"],
    ["src/b.ts", "open"],
  ]);
});

Deno.test("a banned word is caught in file names and in texts that are no TypeScript", () => {
  assert.equal(checkFileNames(["src/crew_member.ts", "src/worker.ts"]).length, 1);
  assert.match(
    checkWords("a.sql", "select 1;\n-- the payer\n")[0]?.message ?? "",
    /^line 2: "payer"/,
  );
});

Deno.test("a link or a path in Markdown that leads nowhere is caught", () => {
  const text = "[a](../b.md#c) [d](gone.md) [e](https://x.example) `src/http` `src/gone.ts` `${x}`";
  const exists = (path: string) => ["docs/b.md", "src/http"].includes(path);
  assert.deepEqual(
    checkLinks("docs/use/a.md", text, exists).map(({ name }) => name),
    ["docs/use/gone.md", "src/gone.ts"],
  );
});

Deno.test("a test that asserts nothing is caught; an assertion in a helper is one", () => {
  const sources = new Map([
    [
      "test/helpers/page.ts",
      'import assert from "node:assert/strict";\n' +
      "function seen() { assert.ok(true); }\nexport class Page { look() { seen(); } }\n",
    ],
    [
      "test/a_test.ts",
      'import assert from "node:assert/strict";\n' +
      'import { Page as Browser } from "./helpers/page.ts";\n' +
      "const post = () => fetch(address);\nconst sent = async () => assert.ok(await post());\n" +
      'Deno.test("direct", () => assert.ok(1));\nDeno.test("own helper", () => sent());\n' +
      'test({ name: "helper", async fn() { new Browser().look(); } });\n' +
      "for (const n of [1]) test(`empty ${n}`, async () => { await post(); });\n" +
      'Deno.test({ name: "named", fn() {} });\n' +
      "const test = (name, fn) => Deno.test({ name, fn });\n",
    ],
  ]);
  assert.deepEqual(checkAssertions(sources).map(({ name, message }) => [name, message]), [
    ["empty …", 'line 8: the test "empty …" asserts nothing'],
    ["named", 'line 9: the test "named" asserts nothing'],
  ]);
});
