import assert from "node:assert/strict";
import { join } from "node:path";
import { openAdapters } from "../../../providers/registry.ts";
import { ConfigError } from "./faults.ts";
import { ConfigStore, type ConfigStoreOptions } from "./config_store.ts";
import type { Config } from "./config.ts";
import { recordLog } from "../../../test/helpers/logs.ts";

const declared = (name: string) =>
  `service: { name: ${name} }
providers: { sim: { adapter: simulator, api_key: "\${SIM_KEY:-}" }, other: { adapter: simulator } }
models: [{ id: talk, name: Talk, type: chat, capabilities: [chat], upstreams: [{ provider: other }] }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries: [{ model: talk, billing_type: per_call, price: "0.01", unit: call }]
`;

/** A declaration in a folder of its own, a configStore of it, and what the configStore logged. */
async function openKeeper(environment: Record<string, string> = {}) {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "gateway.yaml");
  await Deno.writeTextFile(file, declared("first"));
  const logged: { level: string; message: string; fields?: Record<string, unknown> }[] = [];
  const options: ConfigStoreOptions = {
    file,
    environment,
    known: { adapters: new Map(openAdapters()), operations: new Set(), requests: new Set() },
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

Deno.test("a good declaration takes over whole, and who took the old one keeps it", async () => {
  await using opened = await openKeeper();
  const { configStore } = opened;
  const before = configStore.current;
  const heard: Config[] = [];
  configStore.onChange((config) => heard.push(config));
  await opened.write(declared("second"));
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
  assert.deepEqual(heard, [configStore.current]);
  assert.equal(configStore.lastReload, reload);
  assert.deepEqual(opened.logged.map(({ message }) => message), ["declaration reloaded"]);
});

Deno.test("a bad declaration changes nothing and is reported with every fault", async () => {
  await using opened = await openKeeper();
  const { configStore } = opened;
  const before = configStore.current;
  configStore.onChange(() => assert.fail("nothing has changed"));
  await opened.write(declared("second").replace("chat]", "chta]").replace('"0.01"', "0.01"));
  const reload = await configStore.reload("file");
  assert.deepEqual([reload.ok, reload.version, reload.faults.length], [false, null, 2]);
  assert.equal(configStore.current, before);
  const [entry] = opened.logged;
  assert.deepEqual([entry?.level, entry?.fields?.faults, entry?.fields?.version], [
    "error",
    2,
    before.version,
  ]);
  assert.match(
    String(entry?.fields?.report),
    /gateway\.yaml:3:\d+ error models\[0\]\.capabilities\[0\]/,
  );
});

Deno.test("a bad declaration is forgotten with the next good one", async () => {
  await using opened = await openKeeper();
  await opened.write("models: [");
  assert.equal((await opened.configStore.reload("file")).ok, false);
  await opened.write(declared("third"));
  assert.equal((await opened.configStore.reload("file")).ok, true);
  assert.deepEqual(
    [opened.configStore.current.service.name, opened.configStore.lastReload.faults],
    [
      "third",
      [],
    ],
  );
});

Deno.test("a file that is gone or not text keeps the old declaration in force", async () => {
  await using opened = await openKeeper();
  await Deno.writeFile(opened.file, new Uint8Array([0x61, 0xff, 0xfe]));
  assert.equal(
    (await opened.configStore.reload("file")).faults[0]?.message,
    "the file is not UTF-8 text",
  );
  await Deno.remove(opened.file);
  assert.equal(
    (await opened.configStore.reload("file")).faults[0]?.message,
    "there is no such file",
  );
  await Deno.mkdir(opened.file);
  assert.match((await opened.configStore.reload("file")).faults[0]!.message, /^cannot be read: /);
  assert.equal(opened.configStore.current.service.name, "first");
});

Deno.test("a new value of an environment variable is taken from an unchanged file", async () => {
  const environment: Record<string, string> = {};
  await using opened = await openKeeper(environment);
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

Deno.test("reloads asked for at once happen one after the other, and the last file wins", async () => {
  await using opened = await openKeeper();
  const asked = [];
  for (let index = 0; index < 10; index++) {
    asked.push(opened.configStore.reload("api"));
    Deno.writeTextFileSync(opened.file, declared(`number-${index}`));
  }
  asked.push(opened.configStore.reload("api"));
  const reloads = await Promise.all(asked);
  assert.ok(reloads.every((reload) => reload.ok));
  assert.equal(opened.configStore.current.service.name, "number-9");
});

Deno.test("a part that fails to take the new declaration does not keep it from the others", async () => {
  await using opened = await openKeeper();
  const heard: string[] = [];
  opened.configStore.onChange(() => {
    throw new Error("not today");
  });
  opened.configStore.onChange((config) => heard.push(config.service.name));
  await opened.write(declared("second"));
  assert.equal((await opened.configStore.reload("api")).ok, true);
  assert.deepEqual(heard, ["second"]);
  assert.deepEqual(opened.logged.map(({ level }) => level), ["error", "info"]);
});

Deno.test("a mistake of the gateway itself leaves the old declaration in force", async () => {
  await using opened = await openKeeper();
  opened.options.known.adapters.get = () => {
    throw new RangeError("not foreseen");
  };
  const reload = await opened.configStore.reload("file");
  assert.match(reload.faults[0]!.message, /^could not be compiled through a mistake of this build/);
  assert.match(String(opened.logged[0]?.fields?.error), /RangeError: not foreseen/);
  assert.equal(opened.configStore.current.service.name, "first");
});

Deno.test("warnings are logged at the start and at every reload", async () => {
  await using opened = await openKeeper();
  await opened.write(`${declared("second")}outbound: { allow_private: true }\n`);
  const reload = await opened.configStore.reload("api");
  assert.equal(reload.faults[0]?.severity, "warning");
  assert.match(
    opened.logged[0]!.message,
    /gateway\.yaml:8 outbound\.allow_private: clients may name private/,
  );
});

Deno.test("a log entry shows twenty faults of a file with a thousand", async () => {
  await using opened = await openKeeper();
  await opened.write(
    declared("second") + Array.from({ length: 3000 }, (_, index) => `key${index}: 1\n`).join(""),
  );
  const reload = await opened.configStore.reload("api");
  assert.equal(reload.faults.length, 1000);
  assert.equal(String(opened.logged[0]?.fields?.report).match(/this key is unknown/g)?.length, 20);
});

Deno.test("without a good declaration there is nothing to start with", async () => {
  await using opened = await openKeeper();
  await opened.write("providers: {}\n");
  await assert.rejects(ConfigStore.open(opened.options), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.deepEqual(error.faults.map(({ message }) => message), [
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
