import assert from "node:assert/strict";
import { join } from "node:path";
import { openMemoryFolder } from "./memory_folder.ts";

Deno.test("a folder in memory lasts until the end, and what a killed run left is removed", () => {
  const shared = Deno.makeTempDirSync();
  const names = () => [...Deno.readDirSync(shared)].map(({ name }) => name).sort();
  try {
    for (const name of ["tollgate-run-999999999", `tollgate-run-${Deno.pid}`, "another-program"]) {
      Deno.mkdirSync(join(shared, name));
    }
    {
      using memory = openMemoryFolder(shared);
      assert.equal(memory.path, join(shared, `tollgate-run-${Deno.pid}`));
      assert.deepEqual(names(), ["another-program", `tollgate-run-${Deno.pid}`]);
    }
    assert.deepEqual(names(), ["another-program"]);
  } finally {
    Deno.removeSync(shared, { recursive: true });
  }
});

Deno.test("a system without such memory has no such folder", () => {
  using memory = openMemoryFolder("/nowhere");
  assert.equal(memory.path, undefined);
});
