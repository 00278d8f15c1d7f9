/** scripts/connect.ts writes settings after browser authorization, and the clients answer with them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { browserTest } from "../helpers/chromium.ts";
import { findCodingAgents, runAgent } from "../helpers/coding_agents.ts";
import { startConnect } from "../helpers/connect_client.ts";
import { openConsole } from "../helpers/console_gateway.ts";

const BOTH = ["--configure", "claude-code", "--configure", "codex"];
const CODEX = `# mine
model = "gpt-5.1-codex" # usual
[tui]
notifications = true
`;
const CLAUDE = '{\n  "includeCoAuthoredBy": false\n}\n';

const programs = await findCodingAgents();

/** A home with settings in it. */
async function openHome(): Promise<{ home: string } & AsyncDisposable> {
  const home = await Deno.makeTempDir({ prefix: "tollgate-home-" });
  await Deno.mkdir(join(home, ".claude"));
  await Deno.mkdir(join(home, ".codex"));
  await Deno.writeTextFile(join(home, ".claude/settings.json"), CLAUDE);
  await Deno.writeTextFile(join(home, ".codex/config.toml"), CODEX);
  return { home, [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }) };
}

/** Every file of the two clients, by name. */
async function filesIn(home: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const folder of [".claude", ".codex"]) {
    for await (const { name, isFile } of Deno.readDir(join(home, folder))) {
      if (isFile) files[`${folder}/${name}`] = await Deno.readTextFile(join(home, folder, name));
    }
  }
  return files;
}

browserTest(
  "connect.ts writes settings that Claude Code and Codex answer with, and takes them out again",
  async ({ openPage }) => {
    await using gateway = await openConsole();
    await using place = await openHome();
    const { home } = place;
    const before = await filesIn(home);
    const page = await openPage();
    await gateway.person.takeOver(page);
    const client = startConnect(gateway.address, { args: BOTH, home });
    await page.goto(await client.entry);
    await page.getByRole("button", { name: "Allow" }).click();
    const { code, said, output } = await client.ended;
    assert.equal(code, 0, said);
    assert.equal(output, "");
    assert.match(said, /Connected to Tollgate with the model sim-chat/);
    const written = await filesIn(home);
    const key = /^TOLLGATE_API_KEY=(sk-\w+)\n$/.exec(written[".codex/.env"]!)![1]!;
    assert.equal(JSON.parse(written[".claude/settings.json"]!).env.ANTHROPIC_AUTH_TOKEN, key);
    assert.ok(!said.includes(key), "the key stays off the screen");
    assert.equal(written[".codex/config.toml.before-connect"], CODEX);

    if (programs === null) console.error("SKIPPED: Claude Code and Codex CLI: npm has none here.");
    else await assertAnswers(programs, home);

    const removed = await startConnect(gateway.address, { args: [...BOTH, "--remove"], home })
      .ended;
    assert.equal(removed.code, 0, removed.said);
    const after = await filesIn(home);
    for (const [name, text] of Object.entries(before)) assert.equal(after[name], text, name);
    assert.deepEqual(Object.keys(after).filter((name) => /connect|\.env/.test(name)), []);
  },
);

async function assertAnswers(programs: string, home: string): Promise<void> {
  const claude = await runAgent(programs, {
    command: "claude -p 'Say something about tides.'",
    environment: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
    folder: home,
  });
  assert.match(claude, /simulator/);
  const codex = await runAgent(programs, {
    command: "codex exec --skip-git-repo-check 'Say something about tides.'",
    folder: home,
  });
  assert.match(codex, /simulator/);
}

browserTest("connect.ts --dry-run shows the difference and writes nothing", async () => {
  await using gateway = await openConsole();
  await using place = await openHome();
  const { home } = place;
  const before = await filesIn(home);
  const args = [...BOTH, "--dry-run", "--model", "sim-chat"];
  const { code, said } = await startConnect(gateway.address, { args, home }).ended;
  assert.equal(code, 0, said);
  assert.match(said, /^- model = "gpt-5.1-codex" # usual\n\+ model = "sim-chat" # usual$/m);
  assert.match(said, /^\+ {5}"ANTHROPIC_AUTH_TOKEN": "…",$/m);
  assert.ok(!said.includes("notifications"));
  assert.deepEqual(await filesIn(home), before);

  const environment = { CLAUDE_CONFIG_DIR: `${home}/a`, CODEX_HOME: `${home}/b` };
  const moved = await startConnect(gateway.address, { args, home, environment }).ended;
  for (const path of ["a/settings.json", "b/config.toml", "b/.env"]) {
    assert.ok(moved.said.includes(`${home}/${path}\n+ `), moved.said);
  }
});

browserTest(
  "connect.ts asks for no key when a file cannot be changed or the command is wrong",
  async () => {
    await using gateway = await openConsole();
    await using place = await openHome();
    const { home } = place;
    await Deno.writeTextFile(join(home, ".codex/config.toml"), "model = \n");
    const before = await filesIn(home);
    const endWith = async (args: string[]) => {
      const { code, said } = await startConnect(gateway.address, { args, home }).ended;
      assert.equal(code, 1, said);
      assert.ok(!said.includes("browser-auth"), said);
      assert.deepEqual(await filesIn(home), before);
      return said;
    };
    assert.match(await endWith(BOTH), /config\.toml is not valid TOML/);
    assert.match(await endWith(["--configure", "vim"]), /choose one of claude-code, codex/);
    assert.match(await endWith(["--remove"]), /need --configure/);
    assert.match(await endWith([...BOTH, "--dry-run"]), /--dry-run needs --model/);
  },
);
