import assert from "node:assert/strict";
import { join } from "node:path";
import { groupTests, writeGroups } from "./test_groups.ts";

const named = (folder: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${folder}/${String(n).padStart(2, "0")}_test.ts`);

Deno.test("every file is in one group, with others of its folder, and long ones first", () => {
  const files = [
    ...named("src/lib", 3),
    ...named("src/domain/ledger", 20),
    ...named("test/browser", 2),
    ...named("test/journeys", 9),
    "test/journeys/form_limits_test.ts",
    "test/routes_test.ts",
  ];
  const groups = groupTests(files, ".cache/tests");
  assert.deepEqual(groups.flatMap((group) => group.files).sort(), files.toSorted());
  assert.deepEqual(groups.map((group) => [group.module, group.files.length]), [
    [".cache/tests/test.1.ts", 1],
    [".cache/tests/test.browser.1.ts", 1],
    [".cache/tests/test.browser.2.ts", 1],
    [".cache/tests/test.journeys.1.ts", 1],
    [".cache/tests/test.journeys.2.ts", 5],
    [".cache/tests/test.journeys.3.ts", 4],
    [".cache/tests/src.domain.1.ts", 7],
    [".cache/tests/src.domain.2.ts", 7],
    [".cache/tests/src.domain.3.ts", 6],
    [".cache/tests/src.lib.1.ts", 3],
  ]);
});

Deno.test("a group's module runs the tests of its files", async () => {
  const root = await Deno.makeTempDir({ prefix: "tollgate-groups-" });
  try {
    await Deno.mkdir(join(root, "test/a"), { recursive: true });
    const files = named("test/a", 2);
    for (const file of files) {
      await Deno.writeTextFile(join(root, file), `(globalThis.ran ??= []).push("${file}");`);
    }
    const [group] = groupTests(files, ".cache/tests");
    await writeGroups(root, [group!]);
    await import(`file://${join(root, group!.module)}`);
    assert.deepEqual((globalThis as unknown as { ran: string[] }).ran, files);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
