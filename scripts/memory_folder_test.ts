import assert from "node:assert/strict";
import { join } from "node:path";
import { useMemoryFolder } from "./memory_folder.ts";

/** Runs without a folder for temporary files that somebody chose. */
function withoutTemporary(work: (shared: string) => void): void {
  const shared = Deno.makeTempDirSync();
  const before = Deno.env.get("TMPDIR");
  Deno.env.delete("TMPDIR");
  try {
    work(shared);
  } finally {
    if (before !== undefined) Deno.env.set("TMPDIR", before);
    Deno.removeSync(shared, { recursive: true });
  }
}

Deno.test("temporary files are in memory until the end, and what a killed run left is removed", () =>
  withoutTemporary((shared) => {
    const abandoned = join(shared, "tollgate-run-999999999");
    const others = join(shared, "somebody");
    for (const folder of [abandoned, others]) Deno.mkdirSync(folder);
    const using = useMemoryFolder(shared);
    assert.equal(Deno.env.get("TMPDIR"), join(shared, `tollgate-run-${Deno.pid}`));
    assert.ok(Deno.makeTempDirSync().startsWith(shared));
    assert.deepEqual(
      [...Deno.readDirSync(shared)].map(({ name }) => name).sort(),
      ["somebody", `tollgate-run-${Deno.pid}`],
    );
    using[Symbol.dispose]();
    assert.equal(Deno.env.get("TMPDIR"), undefined);
    assert.deepEqual([...Deno.readDirSync(shared)].map(({ name }) => name), ["somebody"]);
  }));

Deno.test("where there is no such memory, temporary files are where they always are", () =>
  withoutTemporary((shared) => {
    using _ = useMemoryFolder(join(shared, "none"));
    assert.equal(Deno.env.get("TMPDIR"), undefined);
  }));
