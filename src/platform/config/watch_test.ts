import assert from "node:assert/strict";
import { join } from "node:path";
import { buildCapabilities } from "../../app/build_capabilities.ts";
import { ConfigStore } from "./config_store.ts";
import { watchConfigFile } from "./watch.ts";
import { sleep } from "../../lib/timers.ts";
import { noLog } from "../../../test/helpers/logs.ts";

const configFile = (name: string) =>
  `service: { name: ${name} }
providers: { sim: { adapter: simulator } }
models: [{ id: talk, name: Talk, type: chat, capabilities: [chat], upstreams: [{ provider: sim }] }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries: [{ model: talk, billing_type: per_call, price: "0.01", unit: call }]
`;

/** A watched configuration file in its own folder. */
async function openWatched(prepare?: (folder: string, file: string) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "gateway.yaml");
  await (prepare?.(folder, file) ?? Deno.writeTextFile(file, configFile("first")));
  const configStore = await ConfigStore.open({
    file,
    environment: {},
    capabilities: buildCapabilities(),
    log: noLog,
  });
  const watch = watchConfigFile(file, configStore);
  return {
    folder,
    file,
    configStore,
    watch,
    name: () => configStore.current.service.name,
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      await configStore.reload("api"); // whatever was under way has ended now
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!isTrue()) {
    assert.ok(Date.now() < deadline, `waited in vain until ${what}`);
    await sleep(10);
  }
}

Deno.test("a file that is overwritten is reloaded", async () => {
  await using watched = await openWatched();
  await Deno.writeTextFile(watched.file, configFile("second"));
  await until("the new name is active", () => watched.name() === "second");
  assert.equal(watched.configStore.lastReload.cause, "file");
});

Deno.test("a file that is replaced by a rename is reloaded, every time", async () => {
  await using watched = await openWatched();
  for (const name of ["second", "third"]) {
    await Deno.writeTextFile(`${watched.file}.new`, configFile(name));
    await Deno.rename(`${watched.file}.new`, watched.file);
    await until(`${name} is active`, () => watched.name() === name);
  }
});

Deno.test("a mounted file whose folder link is replaced is reloaded", async () => {
  await using watched = await openWatched(async (folder, file) => {
    await Deno.mkdir(join(folder, "v1"));
    await Deno.writeTextFile(join(folder, "v1", "gateway.yaml"), configFile("first"));
    await Deno.symlink("v1", join(folder, "..data"));
    await Deno.symlink(join("..data", "gateway.yaml"), file);
  });
  await Deno.mkdir(join(watched.folder, "v2"));
  await Deno.writeTextFile(join(watched.folder, "v2", "gateway.yaml"), configFile("second"));
  await Deno.symlink("v2", join(watched.folder, "..data_tmp"));
  await Deno.rename(join(watched.folder, "..data_tmp"), join(watched.folder, "..data"));
  await until("the new name is active", () => watched.name() === "second");
});

Deno.test("many writes in a short time cause few reloads, and the last one wins", async () => {
  await using watched = await openWatched();
  let reloads = 0;
  watched.configStore.onChange(() => reloads++);
  for (let index = 0; index < 50; index++) {
    // Cut short at first, as editors do: a half-written file is not worth a report.
    await Deno.writeTextFile(watched.file, configFile(`number-${index}`).slice(0, 40));
    await Deno.writeTextFile(watched.file, configFile(`number-${index}`));
  }
  await until("the last name is active", () => watched.name() === "number-49");
  assert.ok(reloads <= 10, `${reloads} reloads`);
});

Deno.test("an invalid file is reported and leaves the previous configuration active", async () => {
  await using watched = await openWatched();
  await Deno.writeTextFile(watched.file, "models: [");
  await until("the issue is reported", () => !watched.configStore.lastReload.ok);
  assert.equal(watched.name(), "first");
  await Deno.writeTextFile(watched.file, configFile("fixed"));
  await until("the fixed one is active", () => watched.name() === "fixed");
});

Deno.test("a deleted file leaves the previous configuration active until it is back", async () => {
  await using watched = await openWatched();
  await Deno.remove(watched.file);
  await until("the issue is reported", () => !watched.configStore.lastReload.ok);
  assert.equal(watched.name(), "first");
  await Deno.writeTextFile(watched.file, configFile("back"));
  await until("it is back", () => watched.name() === "back");
});

Deno.test("SIGHUP reloads", { ignore: Deno.build.os === "windows" }, async () => {
  await using watched = await openWatched();
  const before = watched.configStore.lastReload;
  Deno.kill(Deno.pid, "SIGHUP");
  await until("the signal was received", () => watched.configStore.lastReload !== before);
  assert.equal(watched.configStore.lastReload.cause, "signal");
});

Deno.test("other files in the folder cause no reload, and nothing is reloaded after disposal", async () => {
  await using watched = await openWatched();
  const before = watched.configStore.lastReload;
  await Deno.writeTextFile(join(watched.folder, "notes.txt"), "hello");
  await Deno.readTextFile(watched.file);
  await sleep(400);
  assert.equal(watched.configStore.lastReload, before);
  await Deno.writeTextFile(watched.file, configFile("late"));
  watched.watch[Symbol.dispose]();
  await sleep(400);
  assert.equal(watched.name(), "first");
});

Deno.test("a provider file that was broken and is mended is reloaded", async () => {
  await using watched = await openWatched();
  const named = configFile("second").replace("adapter: simulator", "adapter: ./service.yaml");
  await Deno.writeTextFile(watched.file, named);
  await until("the missing file is reported", () => !watched.configStore.lastReload.ok);
  assert.match(watched.configStore.lastReload.issues[0]!.message, /service\.yaml/);
  const { at } = watched.configStore.lastReload;
  await Deno.writeTextFile(join(watched.folder, "service.yaml"), "broken: true\n");
  await until("the broken file is read", () => watched.configStore.lastReload.at !== at);
  assert.equal(watched.name(), "first");
  const provider = new URL("../../../providers/ollama/provider.yaml", import.meta.url);
  const working = await Deno.readTextFile(provider);
  await Deno.writeTextFile(join(watched.folder, "service.yaml"), working);
  await until("the mended file is in force", () => watched.name() === "second");
});
