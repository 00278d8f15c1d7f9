import assert from "node:assert/strict";
import { join } from "node:path";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { noLog } from "../../../test/helpers/logs.ts";
import { png } from "../../../test/helpers/media.ts";
import { sleep } from "../../lib/timers.ts";
import type { Config } from "../../platform/config/config.ts";
import { openFiles } from "./open_files.ts";

const STORAGE = {
  files: "local",
  s3: null,
  uploads: { imageBytesMax: 1_000_000, keepDays: 1 },
  outputs: { keepDays: 1, urlHours: 1 },
} as unknown as Config["storage"];

for (const keepsExpired of [false, true]) {
  Deno.test(`expired files are ${keepsExpired ? "kept in a drill" : "deleted"}`, async () => {
    await using fresh = await freshDatabase();
    await using database = await fresh.open();
    const { sql } = database;
    await sql`insert into account (id, name) values ('acc_1', 'a')`;
    const dataDir = await Deno.makeTempDir();
    try {
      await using files = await openFiles({
        ...{ sql, dataDir, keepsExpired, log: noLog, cleanEveryMs: 20 },
        storage: () => STORAGE,
        address: () => "http://127.0.0.1",
      });
      const body = new Blob([png()]).stream();
      const upload = { filename: "a.png", body, announcedBytes: null };
      const { id } = await files.upload("acc_1", upload, 1_000_000);
      await sql`update file set expires_at = now() - interval '1 day' where id = ${id}`;
      await sleep(keepsExpired ? 300 : 1_000);
      const exists = () => Deno.stat(join(dataDir, "files", id.slice(-2), id)).then(() => true);
      assert.equal(await exists().catch(() => false), keepsExpired);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  });
}
