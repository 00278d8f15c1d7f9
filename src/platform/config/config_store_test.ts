import assert from "node:assert/strict";
import { join } from "node:path";
import { openAdapters } from "../../../providers/registry.ts";
import { ConfigError } from "./issues.ts";
import { ConfigStore, type ConfigStoreOptions } from "./config_store.ts";
import type { Config } from "./config.ts";
import { recordLog } from "../../../test/helpers/logs.ts";

const configFile = (name: string) =>
  `service: { name: ${name} }
providers: { sim: { adapter: simulator, api_key: "\${SIM_KEY:-}" }, other: { adapter: simulator } }
models: [{ id: talk, name: Talk, type: chat, capabilities: [chat], upstreams: [{ provider: other }] }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries: [{ model: talk, billing_type: per_call, price: "0.01", unit: call }]
`;

/** A configuration file in its own folder, its store, and the entries that the store logged. */
async function openStore(environment: Record<string, string> = {}) {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "gateway.yaml");
  await Deno.writeTextFile(file, configFile("first"));
  const logged: { level: string; message: string; fields?: Record<string, unknown> }[] = [];
  const options: ConfigStoreOptions = {
    file,
    environment,
    capabilities: {
      adapters: new Map(openAdapters()),
      operations: new Map(),
      standardRoutes: [],
      requests: new Set(),
    },
    log: recordLog((level, message, fields) => logged.push({ level, message, fields })),
  };
  const configStore = await ConfigStore.open(options);
  return {
    configStore,
    file,
    logged,
    options,
    write: (text: string) => Deno.writeTextFile(file, text),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

Deno.test("a valid file replaces the whole configuration, and a reader of the old one keeps it", async () => {
  await using opened = await openStore();
  const { configStore } = opened;
  const before = configStore.current;
  const received: Config[] = [];
  configStore.onChange((config) => received.push(config));
  await opened.write(configFile("second"));
  const reload = await configStore.reload("api");
  assert.deepEqual([reload.ok, reload.cause, reload.version], [
    true,
    "api",
    configStore.current.version,
  ]);
  assert.deepEqual(reload.changes, [{
    kind: "changed",
    path: "service.name",
    from: "first",
    to: "second",
  }]);
  assert.deepEqual([before.service.name, configStore.current.service.name], ["first", "second"]);
  assert.deepEqual(received, [configStore.current]);
  assert.equal(configStore.lastReload, reload);
  assert.deepEqual(opened.logged.map(({ message }) => message), ["configuration reloaded"]);
});

Deno.test("a file that was invalid and is as before again is logged; a reload without changes is not", async () => {
  await using opened = await openStore();
  const { configStore, file } = opened;
  const text = await Deno.readTextFile(file);
  await opened.write("models: 5");
  assert.equal((await configStore.reload("file")).ok, false);
  for (let n = 0; n < 2; n++) {
    await opened.write(text);
    assert.equal((await configStore.reload("file")).ok, true);
  }
  assert.deepEqual(opened.logged.map(({ message }) => message), [
    "configuration reload failed, previous configuration stays active",
    "configuration reloaded",
  ]);
});

Deno.test("an invalid file changes nothing and is reported with all issues", async () => {
  await using opened = await openStore();
  const { configStore } = opened;
  const before = configStore.current;
  configStore.onChange(() => assert.fail("nothing has changed"));
  await opened.write(configFile("second").replace("chat]", "chta]").replace('"0.01"', "0.01"));
  const reload = await configStore.reload("file");
  assert.deepEqual([reload.ok, reload.version, reload.issues.length], [false, null, 2]);
  assert.equal(configStore.current, before);
  const [entry] = opened.logged;
  assert.deepEqual([entry?.level, entry?.fields?.errors, entry?.fields?.version], [
    "error",
    2,
    before.version,
  ]);
  assert.match(
    String(entry?.fields?.report),
    /gateway\.yaml:3:\d+ error models\[0\]\.capabilities\[0\]/,
  );
});

Deno.test("a valid file clears the errors of an invalid one", async () => {
  await using opened = await openStore();
  await opened.write("models: [");
  assert.equal((await opened.configStore.reload("file")).ok, false);
  await opened.write(configFile("third"));
  assert.equal((await opened.configStore.reload("file")).ok, true);
  assert.deepEqual(
    [opened.configStore.current.service.name, opened.configStore.lastReload.issues],
    [
      "third",
      [],
    ],
  );
});

Deno.test("a missing or binary file leaves the previous configuration active", async () => {
  await using opened = await openStore();
  await Deno.writeFile(opened.file, new Uint8Array([0x61, 0xff, 0xfe]));
  assert.equal(
    (await opened.configStore.reload("file")).issues[0]?.message,
    "the file is not UTF-8 text",
  );
  await Deno.remove(opened.file);
  assert.equal(
    (await opened.configStore.reload("file")).issues[0]?.message,
    "the file does not exist",
  );
  await Deno.mkdir(opened.file);
  assert.match((await opened.configStore.reload("file")).issues[0]!.message, /^cannot be read: /);
  assert.equal(opened.configStore.current.service.name, "first");
});

Deno.test("a reload of an unchanged file reads new values of environment variables", async () => {
  const environment: Record<string, string> = {};
  await using opened = await openStore(environment);
  assert.equal(opened.configStore.current.providers.get("sim")!.on, false);
  environment.SIM_KEY = "canary";
  const reload = await opened.configStore.reload("signal");
  assert.equal(opened.configStore.current.providers.get("sim")!.apiKey, "canary");
  assert.deepEqual(reload.changes.map(({ path }) => path), [
    "providers.sim.has_key",
    "providers.sim.on",
  ]);
  assert.ok(!JSON.stringify([opened.logged, reload]).includes("canary"));
});

Deno.test("concurrent reloads run one after the other, and the last file wins", async () => {
  await using opened = await openStore();
  const asked = [];
  for (let index = 0; index < 10; index++) {
    asked.push(opened.configStore.reload("api"));
    Deno.writeTextFileSync(opened.file, configFile(`number-${index}`));
  }
  asked.push(opened.configStore.reload("api"));
  const reloads = await Promise.all(asked);
  assert.ok(reloads.every((reload) => reload.ok));
  assert.equal(opened.configStore.current.service.name, "number-9");
});

Deno.test("a listener that fails does not prevent the others from being called", async () => {
  await using opened = await openStore();
  const received: string[] = [];
  opened.configStore.onChange(() => {
    throw new Error("not today");
  });
  opened.configStore.onChange((config) => received.push(config.service.name));
  await opened.write(configFile("second"));
  assert.equal((await opened.configStore.reload("api")).ok, true);
  assert.deepEqual(received, ["second"]);
  assert.deepEqual(opened.logged.map(({ level }) => level), ["error", "info"]);
});

Deno.test("a bug in the compiler leaves the previous configuration active", async () => {
  await using opened = await openStore();
  opened.options.capabilities.adapters[Symbol.iterator] = () => {
    throw new RangeError("not foreseen");
  };
  const reload = await opened.configStore.reload("file");
  assert.match(reload.issues[0]!.message, /^could not be compiled because of a bug in this build/);
  assert.match(String(opened.logged[0]?.fields?.error), /RangeError: not foreseen/);
  assert.equal(opened.configStore.current.service.name, "first");
});

Deno.test("warnings are logged at start and at every reload", async () => {
  await using opened = await openStore();
  await opened.write(`${configFile("second")}outbound: { allow_private: true }\n`);
  const reload = await opened.configStore.reload("api");
  assert.equal(reload.issues[0]?.severity, "warning");
  const { message, fields } = opened.logged[0]!;
  assert.deepEqual([message, fields?.line, fields?.path, fields?.warning], [
    "configuration warning",
    8,
    "outbound.allow_private",
    "clients may use private network addresses: for development only",
  ]);
});

Deno.test("a log entry shows twenty issues of a file with a thousand", async () => {
  await using opened = await openStore();
  await opened.write(
    configFile("second") + Array.from({ length: 3000 }, (_, index) => `key${index}: 1\n`).join(""),
  );
  const reload = await opened.configStore.reload("api");
  assert.equal(reload.issues.length, 1000);
  assert.equal(String(opened.logged[0]?.fields?.report).match(/unknown key/g)?.length, 20);
});

Deno.test("the store does not open with an invalid file", async () => {
  await using opened = await openStore();
  await opened.write("providers: {}\n");
  await assert.rejects(ConfigStore.open(opened.options), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.deepEqual(error.issues.map(({ message }) => message), [
      'the key "models" is missing',
      'the key "prices" is missing',
    ]);
    return true;
  });
  await assert.rejects(
    ConfigStore.open({ ...opened.options, file: `${opened.file}.none` }),
    ConfigError,
  );
});
