import assert from "node:assert/strict";
import { measureReach } from "./coverage.ts";
import { makeSandbox } from "./sandbox.ts";
import { readTests } from "./test_graph.ts";

const FILES: Record<string, string> = {
  "deno.json": "{}",
  "src/add.ts": "export function add(a: number, b: number): number {\n  return a + b;\n}\n\n" +
    "export function unused(): number {\n  return 1;\n}\n",
  "src/add_test.ts": 'import { add } from "./add.ts";\nDeno.test("adds", () => {\n' +
    '  if (add(1, 2) !== 3) throw new Error("wrong");\n});\n',
  "src/other_test.ts": 'Deno.test("nothing", () => {});\n',
};

async function makeProject(): Promise<{ root: string } & AsyncDisposable> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${root}/src`);
  for (const [path, text] of Object.entries(FILES)) {
    await Deno.writeTextFile(`${root}/${path}`, text);
  }
  return { root, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

Deno.test("a mutant runs in a copy, for a limited time, and leaves nothing behind", async () => {
  await using project = await makeProject();
  await using sandbox = await makeSandbox(project.root, { files: Object.keys(FILES), env: {} });
  const run = (text?: string, timeoutMs = 30_000) =>
    sandbox.test({
      file: "src/add_test.ts",
      timeoutMs,
      ...(text === undefined ? {} : { changed: { path: "src/add.ts", text } }),
    });
  const source = FILES["src/add.ts"]!;
  assert.equal((await run()).outcome, "passed");
  assert.equal((await run(source.replace("+", "-"))).outcome, "failed");
  assert.equal(
    (await run(source.replace("return a", "for (;;); return a"), 500)).outcome,
    "timeout",
  );
  assert.equal((await run()).outcome, "passed");
  assert.equal(await Deno.readTextFile(`${project.root}/src/add.ts`), source);
});

Deno.test("coverage says which lines a test executes", async () => {
  await using project = await makeProject();
  await using sandbox = await makeSandbox(project.root, { files: Object.keys(FILES), env: {} });
  const { passes, lines } = await measureReach(sandbox, "src/add_test.ts");
  assert.ok(passes);
  assert.ok(lines["src/add.ts"]!.includes(2));
  assert.ok(!lines["src/add.ts"]!.includes(6));
});

Deno.test("a test's hash changes with what it imports, and with nothing else", async () => {
  await using project = await makeProject();
  const read = () => readTests(project.root, ["src/add_test.ts", "src/other_test.ts"], []);
  const before = await read();
  assert.deepEqual([...before[0]!.imports].sort(), ["src/add.ts", "src/add_test.ts"]);
  await Deno.writeTextFile(`${project.root}/src/add.ts`, `${FILES["src/add.ts"]}// changed\n`);
  const after = await read();
  assert.notEqual(after[0]!.hash, before[0]!.hash);
  assert.equal(after[1]!.hash, before[1]!.hash);
});
