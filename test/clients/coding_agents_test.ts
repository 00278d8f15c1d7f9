/** Coding agents from npm, unchanged and without a terminal, on the simulator, set up as the site shows it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { shellQuote } from "../../src/site/clients/shell_quote.ts";
import { type ChatGateway, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { setupOf } from "../helpers/client_setups.ts";
import { findCodingAgents, runAgent } from "../helpers/coding_agents.ts";

const CONFIG = `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 100000000 } }
plans: { free: {} }
providers: { sim: { adapter: simulator } }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming, vision, tools, json_schema, reasoning]
    limits: { context_tokens: 128000, max_output_tokens: 64000 }
    upstreams: [{ provider: sim, model: chat }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries: [{ model: talk, billing_type: token, input_price: "1.00", output_price: "2.00", unit: 1M tokens }]
`;

const programs = await findCodingAgents();
if (programs === null) {
  console.error(
    "SKIPPED: Claude Code, Codex CLI, opencode and Continue are not tried, because npm cannot download them here.",
  );
}
const ignore = programs === null;

/** A test does not download updates or report how it went. */
const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
// The test's folder is the sandbox: containers seldom allow one inside of them.
const CODEX = "exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --json";
const CLAUDE = "--output-format json --allowedTools Read -p";

/** A home with a note in it, and a gateway to talk to. */
async function open(): Promise<{ gateway: ChatGateway; folder: string } & AsyncDisposable> {
  const parts = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "tollgate-agent-" });
  parts.defer(() => Deno.remove(folder, { recursive: true }));
  await Deno.writeTextFile(`${folder}/note.txt`, "The secret word is heron.\n");
  const gateway = parts.use(await openChatGateway({ config: CONFIG }));
  return { gateway, folder, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function writeFile(folder: string, name: string, text: string): Promise<void> {
  const path = join(folder, name);
  await Deno.mkdir(join(path, ".."), { recursive: true });
  await Deno.writeTextFile(path, text);
}

/** Receipts of all requests, each paid; the agent made at least so many. */
async function assertReceipts(gateway: ChatGateway, least: number): Promise<void> {
  const { data } = await (await gateway.get("/v1/usage?limit=100")).json();
  assert.ok(data.length >= least, `${data.length} receipts`);
  for (const { settled } of data) assert.ok(Number(settled) > 0);
  await gateway.verify();
}

Deno.test({
  name: "Claude Code answers a question, reads a file with its tool, and leaves receipts",
  ignore,
  async fn() {
    await using place = await open();
    const { gateway, folder } = place;
    const [commands] = setupOf(gateway, "talk", "claude-code");
    const ask = async (prompt: string): Promise<Json> => {
      const text = await runAgent(programs!, {
        command: `${commands} ${CLAUDE} ${shellQuote(prompt)}`,
        environment: { TOLLGATE_API_KEY: gateway.key, ...QUIET },
        folder,
      });
      return JSON.parse(text);
    };
    const said = await ask("Say something about tides.");
    assert.equal(said.is_error, false, said.result);
    assert.match(said.result, /simulator/);
    const read = await ask(`Do Read({"file_path":"${folder}/note.txt"})`);
    assert.match(read.result, /secret word is heron/);
    assert.equal(read.num_turns, 2);
    await assertReceipts(gateway, 3);
  },
});

Deno.test({
  name: "Claude Code answers with the settings file that is shown",
  ignore,
  async fn() {
    await using place = await open();
    const { gateway, folder } = place;
    const [, settings] = setupOf(gateway, "talk", "claude-code");
    await writeFile(folder, ".claude/settings.json", settings!);
    const command = `claude ${CLAUDE} 'Say something about tides.'`;
    const said = JSON.parse(await runAgent(programs!, { command, environment: QUIET, folder }));
    assert.match(said.result, /simulator/);
    await assertReceipts(gateway, 1);
  },
});

Deno.test({
  name: "Codex CLI answers a question, runs a command on a file, and leaves receipts",
  ignore,
  async fn() {
    await using place = await open();
    const { gateway, folder } = place;
    const [settings, codex] = setupOf(gateway, "talk", "codex");
    await writeFile(folder, ".codex/config.toml", settings!);
    const ask = async (prompt: string): Promise<Json[]> => {
      const text = await runAgent(programs!, {
        command: `${codex} ${CODEX} ${shellQuote(prompt)}`,
        environment: { TOLLGATE_API_KEY: gateway.key },
        folder,
      });
      return text.trim().split("\n").map((line) => JSON.parse(line).item).filter(Boolean);
    };
    const said = await ask("Say something about tides.");
    assert.match(said.at(-1).text, /simulator/);
    const items = await ask('Do exec_command({"cmd":"cat note.txt"})');
    const command = items.findLast(({ type }) => type === "command_execution");
    assert.match(command.aggregated_output, /secret word is heron/);
    assert.match(items.at(-1).text, /secret word is heron/);
    await assertReceipts(gateway, 3);
  },
});

Deno.test({
  name: "opencode answers a question and reads a file with its tool",
  ignore,
  async fn() {
    await using place = await open();
    const { gateway, folder } = place;
    const [settings, opencode] = setupOf(gateway, "talk", "opencode");
    await writeFile(folder, "opencode.json", settings!);
    // It puts a message with spaces in quotes, and with it the quotes in it.
    const ask = (prompt: string) =>
      runAgent(programs!, {
        command: `${opencode} run ${prompt.split(" ").map(shellQuote).join(" ")}`,
        environment: {
          TOLLGATE_API_KEY: gateway.key,
          OPENCODE_DISABLE_AUTOUPDATE: "1",
          OPENCODE_DISABLE_MODELS_FETCH: "1",
          OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
        },
        folder,
      });
    assert.match(await ask("Say something about tides."), /simulator/);
    assert.match(await ask(`Do read({"filePath":"${folder}/note.txt"})`), /secret word is heron/);
    await assertReceipts(gateway, 3);
  },
});

Deno.test({
  name: "Continue answers a question",
  ignore,
  async fn() {
    await using place = await open();
    const { gateway, folder } = place;
    const [settings] = setupOf(gateway, "talk", "continue");
    await writeFile(folder, ".continue/config.yaml", settings!);
    const command = "cn -p 'Say something about tides.'";
    assert.match(await runAgent(programs!, { command, folder }), /simulator/);
    await assertReceipts(gateway, 1);
  },
});
