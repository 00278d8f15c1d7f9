import assert from "node:assert/strict";
import { join } from "node:path";
import { SettingsError } from "../../src/app/environment.ts";
import { openGateway } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const CONFIG = new URL("../helpers/config.yaml", import.meta.url);

const configWithQueue = async (queue: string) =>
  `${await Deno.readTextFile(CONFIG)}\nstorage:\n  queue: ${queue}\n`;

async function folder() {
  const path = await Deno.makeTempDir({ prefix: "tollgate-elsewhere-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

Deno.test(
  "a queue in a file is refused where another machine's node runs on the database",
  STRICT,
  async () => {
    await using first = await openGateway({ config: await configWithQueue("kv") });
    await using elsewhere = await folder();
    const store = { ...first.store, dataDir: elsewhere.path };
    await assert.rejects(
      openGateway({ config: await configWithQueue("kv"), store }),
      (error) =>
        error instanceof SettingsError &&
        /Set storage.queue: postgres for several nodes/.test(error.message),
    );
    const res = await first.fetch("/readyz");
    assert.equal(res.status, 200, await res.text());
  },
);

Deno.test(
  "with the queue in Postgres nodes of several machines run side by side",
  STRICT,
  async () => {
    await using first = await openGateway({ config: await configWithQueue("postgres") });
    await using elsewhere = await folder();
    // Only the files are shared, as by a network file system.
    await Deno.symlink(join(first.store.dataDir, "files"), join(elsewhere.path, "files"));
    const store = { ...first.store, dataDir: elsewhere.path };
    await using second = await openGateway({ config: await configWithQueue("postgres"), store });
    for (const node of [first, second]) {
      const res = await node.fetch("/readyz");
      assert.equal(res.status, 200, await res.text());
    }
  },
);
