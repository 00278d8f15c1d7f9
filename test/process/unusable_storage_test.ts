import assert from "node:assert/strict";
import { join } from "node:path";
import { copyEmbedded } from "../helpers/fresh_database.ts";
import { startProcess } from "../helpers/gateway_process.ts";
import { smallDisk } from "../helpers/small_disk.ts";
import { sleep } from "../../src/lib/timers.ts";

async function temporary() {
  const path = await Deno.makeTempDir({ prefix: "tollgate-process-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

Deno.test("a DATA_DIR that cannot be used ends the start with a sentence", async () => {
  await using folder = await temporary();
  const file = join(folder.path, "file");
  await Deno.writeTextFile(file, "not a folder");
  const cases: [path: string, reason: RegExp][] = [
    [file, /is a file and not a folder/],
    [join(file, "data"), /is a file and not a folder/],
  ];
  await using disk = await smallDisk(1);
  if (disk !== null) cases.push([await readOnly(disk.path), /it is read-only/]);
  for (const [path, reason] of cases) {
    await using gateway = startProcess({ DATA_DIR: path });
    assert.equal((await gateway.ended).code, 1);
    await gateway.says(/Cannot use the data folder .* set DATA_DIR to a folder/);
    assert.match(gateway.stderr(), reason);
    assert.doesNotMatch(gateway.stderr(), /\.ts:\d+/, "a sentence, not a stack");
  }
});

async function readOnly(mounted: string): Promise<string> {
  const args = ["-o", "remount,ro", mounted];
  assert.ok((await new Deno.Command("mount", { args }).output()).success);
  return mounted;
}

Deno.test("a DATA_DIR/postgres that lost its PG_VERSION is refused, with what to do", async () => {
  await using data = await temporary();
  await Deno.mkdir(join(data.path, "postgres", "base"), { recursive: true });
  await using gateway = startProcess({ DATA_DIR: data.path });
  assert.equal((await gateway.ended).code, 1);
  await gateway.says(/is damaged: PG_VERSION is missing\. .*restore this folder from your backup/);
  assert.doesNotMatch(gateway.stderr(), /\.ts:\d+/, "a sentence, not a stack");
});

Deno.test("key-value files that hold garbage are renamed and created again", async () => {
  await using data = await temporary();
  await copyEmbedded(data.path);
  for (const name of ["kv.sqlite", "queue.sqlite3"]) {
    await Deno.writeTextFile(join(data.path, name), "garbage ".repeat(1_000));
  }
  await using gateway = startProcess({ DATA_DIR: data.path });
  await gateway.says(/listens on/, 120);
  const ready = await fetch(`${gateway.address}/readyz`);
  assert.equal(ready.status, 200, await ready.text());
  const names = [...Deno.readDirSync(data.path)].map(({ name }) => name);
  for (const name of ["kv.sqlite", "queue.sqlite3"]) {
    const aside = names.find((other) => other.startsWith(`${name}.broken-`));
    assert.match(await Deno.readTextFile(join(data.path, aside!)), /^garbage/);
    assert.match(gateway.stderr(), new RegExp(`"level":"warn".*${name}`));
  }
  gateway.signal("SIGTERM");
  assert.equal((await gateway.ended).code, 0, gateway.stderr());
});

Deno.test("SIGTERM is obeyed while the start waits for the database", async () => {
  await using data = await temporary();
  await using gateway = startProcess({
    DATA_DIR: data.path,
    DATABASE_URL: "postgres://127.0.0.1:9/nowhere",
    DATABASE_WAIT_SECONDS: "600",
  });
  await gateway.says(/waiting for the database/);
  gateway.signal("SIGTERM");
  assert.equal((await gateway.ended).code, 0, gateway.stderr());
});

Deno.test("embedded, its disk full: 503 and not ready, ready again with room, and SIGTERM is obeyed", async () => {
  await using disk = await smallDisk(140);
  if (disk === null) return;
  await copyEmbedded(disk.path);
  const token = "0123456789abcdef";
  await using gateway = startProcess({ DATA_DIR: disk.path, ADMIN_TOKEN: token });
  await gateway.says(/listens on/, 120);
  let made = 0;
  const create = () =>
    fetch(`${gateway.address}/admin/v1/accounts`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: `account ${made++} ${"x".repeat(60)}` }),
      signal: AbortSignal.timeout(30_000),
    });
  /** Writes until the storage refuses. */
  async function exhaust(): Promise<void> {
    await disk!.fill();
    for (let n = 0; n < 20_000; n++) {
      const res = await create();
      const text = await res.text();
      if (res.status === 201) continue;
      assert.equal(res.status, 503, text);
      assert.equal(JSON.parse(text).error.code, "storage_unavailable");
      assert.ok(Number(res.headers.get("retry-after")) >= 1);
      return;
    }
    throw new Error("the disk never ran full");
  }
  await exhaust();
  const ready = await fetch(`${gateway.address}/readyz`);
  assert.equal(ready.status, 503, await ready.text());

  await disk.free();
  const giveUpAt = performance.now() + 60_000;
  while (true) {
    const res = await create();
    await res.body?.cancel();
    if (res.status === 201) break;
    assert.ok(performance.now() < giveUpAt, gateway.stderr());
    await sleep(200);
  }
  const books = await fetch(`${gateway.address}/admin/v1/ledger/verify`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal((await books.json()).ok, true);

  await exhaust();
  gateway.signal("SIGTERM");
  assert.equal((await gateway.ended).code, 0, gateway.stderr());
});
