import assert from "node:assert/strict";
import { join } from "node:path";
import { claudeEdit } from "./claude_settings.ts";
import { lineDiff } from "./line_diff.ts";
import { backupOf, makeChange, planApply, planRemove } from "./settings_files.ts";

const test = (name: string, fn: (folder: string) => Promise<void>) =>
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await fn(folder);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });

const editIn = (folder: string, key = "sk-new") =>
  claudeEdit(join(folder, ".claude"), {
    service: "Acme AI",
    baseUrl: "https://api.acme.example/v1",
    key,
    model: { id: "talk" },
  });

async function apply(folder: string, key?: string): Promise<void> {
  for (const change of await planApply([editIn(folder, key)])) await makeChange(change);
}

async function remove(folder: string): Promise<void> {
  for (const change of await planRemove([editIn(folder)])) await makeChange(change);
}

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
const modeOf = async (path: string) => (await Deno.stat(path)).mode! & 0o777;

test("the file and its copy can be read by their owner only, and nothing else is left", async (folder) => {
  const path = join(folder, ".claude/settings.json");
  await Deno.mkdir(join(folder, ".claude"));
  await Deno.writeTextFile(path, '{"model":"opus"}', { mode: 0o644 });
  await apply(folder);
  assert.deepEqual(names(join(folder, ".claude")), [
    "settings.json",
    "settings.json.before-connect",
  ]);
  assert.deepEqual([await modeOf(path), await modeOf(backupOf(path))], [0o600, 0o600]);
  assert.equal(await Deno.readTextFile(backupOf(path)), '{"model":"opus"}');
});

test("a second run with another key keeps the copy of the first, and removal restores it", async (folder) => {
  const path = join(folder, ".claude/settings.json");
  await Deno.mkdir(join(folder, ".claude"));
  const before = '{\n  "env": {\n    "ANTHROPIC_AUTH_TOKEN": "sk-own"\n  }\n}\n';
  await Deno.writeTextFile(path, before);
  await apply(folder);
  await apply(folder, "sk-newer");
  assert.equal(JSON.parse(await Deno.readTextFile(path)).env.ANTHROPIC_AUTH_TOKEN, "sk-newer");
  await remove(folder);
  assert.equal(await Deno.readTextFile(path), before);
  assert.deepEqual(names(join(folder, ".claude")), ["settings.json"]);
});

test("the same settings again write nothing", async (folder) => {
  await apply(folder);
  const { ino, mtime } = await Deno.stat(join(folder, ".claude/settings.json"));
  await apply(folder);
  const again = await Deno.stat(join(folder, ".claude/settings.json"));
  assert.deepEqual([again.ino, again.mtime], [ino, mtime]);
});

test("a file that was not there is not there after removal; removing twice is harmless", async (folder) => {
  await apply(folder);
  await remove(folder);
  assert.deepEqual(names(join(folder, ".claude")), []);
  await remove(folder);
  assert.deepEqual(names(join(folder, ".claude")), []);
});

test("a link to settings elsewhere stays a link", async (folder) => {
  await Deno.mkdir(join(folder, ".claude"));
  await Deno.writeTextFile(join(folder, "dotfile.json"), "{}");
  await Deno.symlink(join(folder, "dotfile.json"), join(folder, ".claude/settings.json"));
  await apply(folder);
  assert.ok((await Deno.lstat(join(folder, ".claude/settings.json"))).isSymlink);
  assert.match(await Deno.readTextFile(join(folder, "dotfile.json")), /sk-new/);
});

test("a file that is not valid is left as it is, without a copy", async (folder) => {
  await Deno.mkdir(join(folder, ".claude"));
  await Deno.writeTextFile(join(folder, ".claude/settings.json"), "{ broken");
  await assert.rejects(apply(folder), /not valid JSON/);
  assert.deepEqual(names(join(folder, ".claude")), ["settings.json"]);
  assert.equal(await Deno.readTextFile(join(folder, ".claude/settings.json")), "{ broken");
});

Deno.test("a diff has the lines that change, and no others", () => {
  assert.deepEqual(lineDiff("a\nsecret\nb\n", "a\nsecret\nc\nd\n"), ["- b", "+ c", "+ d"]);
  assert.deepEqual(lineDiff("", "a\n"), ["+ a"]);
  assert.deepEqual(lineDiff("a\nb\n", "b\n"), ["- a"]);
  assert.deepEqual(lineDiff("same\n", "same\n"), []);
});
