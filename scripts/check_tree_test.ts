import assert from "node:assert/strict";
import { checkExports, checkFileNames, checkLinks, checkWords } from "./check_tree.ts";

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
