import assert from "node:assert/strict";
import { fsyncSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";

interface FileSystem {
  root: {
    mount: {
      mounts: {
        opts: { root?: string };
        type: { stream_ops: { fsync?: (file: { nfd?: number }) => number } };
      }[];
    };
  };
}

Deno.test("pglite: start parameters, file system, protocol stream and clock are where the embedded database expects them", async () => {
  assert.ok(
    PGlite.defaultStartParams.includes("-F"),
    "`-F` is the parameter that turns fsync off.",
  );
  const folder = await Deno.makeTempDir({ prefix: "tollgate-internals-" });
  const db = await PGlite.create({
    dataDir: folder,
    startParams: [
      ...PGlite.defaultStartParams.filter((param) => param !== "-F"),
      ...["-c", "wal_sync_method=fsync"],
    ],
  });
  const systemNow = Date.now;
  try {
    // src/platform/database/embedded_worker.ts gives Emscripten's file system an fsync.
    const { mounts } = (db.Module.FS as unknown as FileSystem).root.mount;
    const operations = mounts.find(({ opts }) => opts.root === folder)?.type.stream_ops;
    assert.ok(operations, "The folder is a mount of the file system.");
    let synced = 0;
    operations.fsync = ({ nfd }) => {
      if (nfd !== undefined) fsyncSync(nfd);
      synced++;
      return 0;
    };
    await db.exec("create table t (a int)");
    assert.ok(synced > 0, "A commit calls stream_ops.fsync.");

    // src/platform/database/pglite_connections.ts sends raw messages of the Postgres protocol.
    const chunks: Uint8Array[] = [];
    const text = new TextEncoder().encode("select 42\0");
    const query = Uint8Array.of(0x51, 0, 0, 0, text.length + 4, ...text);
    await db.execProtocolRawStream(query, { onRawData: (data) => void chunks.push(data.slice()) });
    assert.match(chunks.map((chunk) => new TextDecoder("latin1").decode(chunk)).join(""), /42/);

    // src/platform/database/engine_clock.ts replaces Date.now.
    Date.now = () => Date.UTC(2031, 0, 2);
    const { rows } = await db.query<{ year: number }>(
      "select extract(year from clock_timestamp())::int as year",
    );
    assert.equal(rows[0]!.year, 2031, "The engine reads Date.now.");
  } finally {
    Date.now = systemNow;
    await db.close();
    await Deno.remove(folder, { recursive: true });
  }
});
