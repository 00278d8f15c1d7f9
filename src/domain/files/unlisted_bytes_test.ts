import assert from "node:assert/strict";
import { join } from "node:path";
import { filesIn } from "../../../test/helpers/file_gateway.ts";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { createAccount } from "../accounts/accounts.ts";
import { newId } from "../../lib/ids.ts";
import { UnlistedBytes } from "./unlisted_bytes.ts";

const DAY_MS = 86_400_000;

Deno.test(
  "bytes without a row are set aside, put back when the row is there, and deleted after a week",
  { sanitizeOps: true, sanitizeResources: true },
  async () => {
    await using store = await freshDatabase();
    await using database = await store.open();
    const { sql } = database;
    const root = join(store.dataDir, "files");
    const put = async (id: string, ageMs: number) => {
      const folder = join(root, id.slice(-2));
      await Deno.mkdir(folder, { recursive: true });
      await Deno.writeFile(join(folder, id), new Uint8Array(3));
      await age(join(folder, id), ageMs);
      return join(folder, id);
    };
    const age = async (path: string, ms: number) => {
      const at = new Date(Date.now() - ms);
      await Deno.utime(path, at, at);
    };
    const { id: account } = await createAccount(sql, { name: "files" });
    const list = (id: string) =>
      sql`insert into file (id, account_id, origin, store, filename, mime_type, kind, expires_at)
          values (${id}, ${account}, 'upload', 'local', 'x', 'image/png', 'image',
                  now() + interval '1 day')`;
    const [listed, young, stray, restored] = Array.from({ length: 4 }, () => newId("file"));
    await list(listed!);
    const kept = [
      await put(listed!, 2 * DAY_MS),
      await put(young!, 0),
      // Older than the database: of another one.
      await put(newId("file", Date.now() - 400 * DAY_MS), 2 * DAY_MS),
    ];
    const left = await put(stray!, 2 * DAY_MS);
    kept.push(await put(restored!, 2 * DAY_MS));
    const bytes = new UnlistedBytes({ sql, root });
    assert.deepEqual(await bytes.sweep(), { setAside: 2, deleted: 0 });
    await list(restored!);
    assert.deepEqual(await bytes.sweep(), { setAside: 0, deleted: 0 });
    assert.deepEqual((await filesIn(root)).sort(), [...kept, `${left}.unlisted`].sort());
    await age(`${left}.unlisted`, 8 * DAY_MS);
    assert.deepEqual(await bytes.sweep(), { setAside: 0, deleted: 1 });
    assert.deepEqual((await filesIn(root)).sort(), kept.sort());
  },
);
