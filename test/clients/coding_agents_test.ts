/** Claude Code and Codex CLI from npm, unchanged and without a terminal, on the simulator. */
import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
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
    "SKIPPED: Claude Code and Codex CLI are not tried, because npm cannot download them here.",
  );
}
const ignore = programs === null;

/** A folder with a note, and a gateway to talk to. */
async function open(): Promise<{ gateway: ChatGateway; folder: string } & AsyncDisposable> {
  const parts = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "tollgate-agent-" });
  parts.defer(() => Deno.remove(folder, { recursive: true }));
  await Deno.writeTextFile(`${folder}/note.txt`, "The secret word is heron.\n");
  const gateway = parts.use(await openChatGateway({ config: CONFIG }));
  return { gateway, folder, [Symbol.asyncDispose]: () => parts.disposeAsync() };
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
    const ask = async (prompt: string): Promise<Json> => {
      const text = await runAgent({
        program: `${programs}/claude`,
        args: ["-p", prompt, "--output-format", "json", "--allowedTools", "Read"],
        environment: {
          ANTHROPIC_BASE_URL: gateway.address,
          ANTHROPIC_AUTH_TOKEN: gateway.key,
          ANTHROPIC_MODEL: "talk",
          ANTHROPIC_DEFAULT_HAIKU_MODEL: "talk",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
        },
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
  name: "Codex CLI answers a question, runs a command on a file, and leaves receipts",
  ignore,
  async fn() {
    await using place = await open();
    const { gateway, folder } = place;
    await Deno.mkdir(`${folder}/.codex`);
    await Deno.writeTextFile(
      `${folder}/.codex/config.toml`,
      `model = "talk"
model_provider = "gate"
[model_providers.gate]
name = "Gate"
base_url = "${gateway.address}/v1"
env_key = "GATE_KEY"
wire_api = "responses"
`,
    );
    const ask = async (prompt: string): Promise<Json[]> => {
      const text = await runAgent({
        program: `${programs}/codex`,
        // The test's folder is the sandbox: containers seldom allow one inside of them.
        args: [
          "exec",
          "--skip-git-repo-check",
          "--dangerously-bypass-approvals-and-sandbox",
          "--json",
          prompt,
        ],
        environment: { GATE_KEY: gateway.key },
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
