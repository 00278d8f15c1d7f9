import assert from "node:assert/strict";
import { join } from "node:path";
import { copyEmbedded } from "../helpers/fresh_database.ts";
import { startProcess } from "../helpers/gateway_process.ts";
import { sleep } from "../../src/lib/timers.ts";
import { statusOf } from "../helpers/status_of.ts";
import { freePort } from "../../scripts/free_port.ts";

async function dataDir({ isEmpty = false } = {}) {
  const path = await Deno.makeTempDir({ prefix: "tollgate-process-" });
  if (!isEmpty) await copyEmbedded(path);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

Deno.test("first start: an account, a key shown once, and a curl line that works as it stands", async () => {
  await using data = await dataDir({ isEmpty: true });
  await using gateway = startProcess({ DATA_DIR: data.path });
  const [, line] = await gateway.says(/^ +(curl .*)$/m);
  const curl = await new Deno.Command("bash", { args: ["-c", `${line} --silent --fail`] }).output()
    .catch(() => null);
  if (curl !== null && curl.code !== 127) {
    const body = JSON.parse(new TextDecoder().decode(curl.stdout));
    assert.ok(body.data.some(({ id }: { id: string }) => id === "sim-chat"));
  }
  const key = /Bearer (sk-\w+)/.exec(line!)![1]!;
  assert.ok(!gateway.stderr().includes(key), "the key is not in the log");
  const { mode } = await Deno.stat(join(data.path, "admin-token"));
  assert.equal((mode ?? 0) & 0o777, 0o600);
  const token = (await Deno.readTextFile(join(data.path, "admin-token"))).trim();
  const list = await fetch(`${gateway.address}/admin/v1/accounts`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal((await list.json()).data[0].name, "demo");

  gateway.signal("SIGTERM");
  assert.equal((await gateway.ended).code, 0, gateway.stderr());

  await using again = startProcess({ DATA_DIR: data.path });
  await again.says(/listens on/);
  assert.ok(!again.stdout().includes("sk-"), "a second start shows no key");
  const models = await fetch(`${again.address}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(models.status, 200, "and the first key still works");
  await models.body?.cancel();
  again.signal("SIGINT");
  assert.equal((await again.ended).code, 0, again.stderr());
});

Deno.test("a gateway that listens on all addresses prints URLs that can be opened, and warns without base_url", async () => {
  await using data = await dataDir();
  await using gateway = startProcess({ DATA_DIR: data.path, HOST: "0.0.0.0" });
  const [, address] = await gateway.says(/ (http:\S+)\/v1\/models/);
  assert.equal(address, gateway.address);
  assert.doesNotMatch(gateway.stdout(), /0\.0\.0\.0/);
  await gateway.says(/"level":"warn".*service\.base_url/);
});

Deno.test("two processes on one DATA_DIR: the second is refused with what to do", async () => {
  await using data = await dataDir();
  await using first = startProcess({ DATA_DIR: data.path });
  await first.says(/listens on/);
  await using second = startProcess({ DATA_DIR: data.path });
  assert.equal((await second.ended).code, 1);
  await second.says(/DATA_DIR[\s\S]*DATABASE_URL|DATABASE_URL[\s\S]*DATA_DIR/);
  assert.doesNotMatch(second.stderr(), /\.ts:\d+/, "a sentence, not a stack");
  assert.equal(await statusOf(fetch(`${first.address}/readyz`)), 200);
});

Deno.test("an invalid configuration ends the start with every error and exit code 1", async () => {
  await using data = await dataDir();
  const config = join(data.path, "gateway.yaml");
  await Deno.writeTextFile(
    config,
    "providers: {}\nmodls: []\nprices: { default: { effective_at: x, entries: [] } }\n",
  );
  await using gateway = startProcess({ DATA_DIR: data.path, GATEWAY_CONFIG: config });
  assert.equal((await gateway.ended).code, 1);
  await gateway.says(/modls: unknown key\. Did you mean "models"\?/);
  assert.match(gateway.stderr(), /\^\^\^\^\^/);
  assert.match(gateway.stderr(), /effective_at: must be a date and time/);
});

Deno.test("unusable environment, a port in use, a database that never comes: a sentence and exit code 1", async () => {
  await using data = await dataDir();
  await using wrong = startProcess({ DATA_DIR: data.path, ADMIN_TOKEN: "short" });
  assert.equal((await wrong.ended).code, 1);
  await wrong.says(/ADMIN_TOKEN must have 16 characters or more/);

  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using busy = startProcess({ DATA_DIR: data.path, PORT: String(taken.addr.port) });
  assert.equal((await busy.ended).code, 1);
  await busy.says(/in use/);

  await using lost = startProcess({
    DATA_DIR: data.path,
    DATABASE_URL: `postgres://gateway:hush-password@127.0.0.1:${freePort()}/nowhere`,
    DATABASE_WAIT_SECONDS: "3",
  });
  await lost.says(/waiting/i);
  const health = await fetch(`${lost.address}/healthz`);
  assert.equal(health.status, 200, "alive while it waits");
  await health.body?.cancel();
  const ready = await fetch(`${lost.address}/readyz`);
  assert.equal(ready.status, 503);
  await ready.body?.cancel();
  const early = await fetch(`${lost.address}/v1/models`);
  assert.equal(early.status, 503);
  assert.equal((await early.json()).error.code, "storage_unavailable");
  assert.equal((await lost.ended).code, 1);
  await lost.says(/DATABASE_URL/);
  assert.ok(!(lost.stdout() + lost.stderr()).includes("hush-password"));
});

Deno.test("SIGHUP reloads the configuration", async () => {
  await using data = await dataDir();
  const config = join(data.path, "config", "gateway.yaml");
  await Deno.mkdir(join(data.path, "config"));
  await Deno.copyFile(new URL("../helpers/config.yaml", import.meta.url), config);
  await using gateway = startProcess({
    DATA_DIR: data.path,
    GATEWAY_CONFIG: config,
    ADMIN_TOKEN: "0123456789abcdef",
  });
  await gateway.says(/listens on/);
  gateway.signal("SIGHUP");
  for (let waited = 0;; waited += 50) {
    const res = await fetch(`${gateway.address}/admin/v1/config`, {
      headers: { authorization: "Bearer 0123456789abcdef" },
    });
    if ((await res.json()).last_reload.cause === "signal") break;
    assert.ok(waited < 5000);
    await sleep(50);
  }
});

Deno.test("SIGTERM lets a request under way finish, and refuses new ones", async () => {
  await using data = await dataDir();
  await using gateway = startProcess({ DATA_DIR: data.path, ADMIN_TOKEN: "0123456789abcdef" });
  await gateway.says(/listens on/);
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const writer = body.writable.getWriter();
  const slow = fetch(`${gateway.address}/admin/v1/accounts`, {
    method: "POST",
    headers: { authorization: "Bearer 0123456789abcdef", "content-type": "application/json" },
    body: body.readable,
  });
  await writer.write(new TextEncoder().encode('{"name":'));
  await sleep(300);
  gateway.signal("SIGTERM");
  await gateway.says(/"message":"stopping"/);
  await writer.write(new TextEncoder().encode('"late"}'));
  await writer.close();
  const res = await slow;
  assert.equal(res.status, 201);
  await res.body?.cancel();
  assert.equal((await gateway.ended).code, 0);
});
