/** What the site shows for SDKs, curl and editors, run as it is shown. Coding agents: coding_agents_test.ts. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import OpenAI from "openai";
import { parse as parseYaml } from "yaml";
import type { Snippet } from "../../src/site/clients/client.ts";
import { setupOf, setupsOf } from "../helpers/client_setups.ts";
import { shippedWith } from "../helpers/console_gateway.ts";
import { png, wav } from "../helpers/media.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";

const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));

async function open(): Promise<{ gateway: MediaGateway; folder: string } & AsyncDisposable> {
  const parts = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir();
  parts.defer(() => Deno.remove(folder, { recursive: true }));
  const gateway = parts.use(
    await openMediaGateway({
      config: await shippedWith(),
      environment: { SIMULATE: "seconds=0" },
      cash: "100",
    }),
  );
  return { gateway, folder, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Runs a text as its reader would, with the key in the environment; its output. */
async function run(
  { language, text }: Pick<Snippet, "language" | "text">,
  folder: string,
  environment: Record<string, string>,
): Promise<string> {
  const program = language === "ts" ? "program.ts" : "command.sh";
  await Deno.writeTextFile(join(folder, program), text);
  const { success, stdout, stderr } = await new Deno.Command(
    language === "ts" ? Deno.execPath() : "sh",
    {
      args: language === "ts"
        ? ["run", "-A", "--no-check", "--config", CONFIG, program]
        : ["-e", program],
      cwd: folder,
      env: { NO_COLOR: "1", ...environment },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      signal: AbortSignal.timeout(120_000),
    },
  ).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert.ok(success, `${text}\n\n${decode(stdout)}${decode(stderr)}`);
  return decode(stdout);
}

/** What the programs and commands for a model print. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  "sim-chat": /simulator/,
  "sim-embedding": /^1536\n$|"embedding":\[/,
  "sim-image": /\/content\/file_/,
  "sim-speech": /^$/,
  "sim-video": /\/content\/file_/,
  "sim-drama": /\/content\/file_/,
};

for (const [model, prints] of Object.entries(PRINTS)) {
  Deno.test(`the programs and commands shown for ${model} work as they are`, async () => {
    await using place = await open();
    const { gateway, folder } = place;
    const environment: Record<string, string> = { TOLLGATE_API_KEY: gateway.key };
    const clients = setupsOf(gateway, model).filter(({ id }) => id !== "claude-code");
    const shown = clients.flatMap(({ snippets }) => snippets)
      .filter(({ language, text }) => language === "ts" || text.startsWith("curl "));
    assert.ok(shown.length >= 2);
    for (const snippet of shown) {
      const output = await run(snippet, folder, environment);
      assert.match(output, prints, snippet.text);
      const task = /"id":"(task_[0-9a-z]+)"/.exec(output)?.[1];
      if (task !== undefined) environment.TASK_ID = task;
    }
    if (model === "sim-speech") {
      assert.ok((await Deno.stat(join(folder, "speech.mp3"))).size > 1000);
    }
    await gateway.verify();
  });
}

Deno.test("an avatar's commands upload a file, and make a video of the uploads", async () => {
  await using place = await open();
  const { gateway, folder } = place;
  const environment = { TOLLGATE_API_KEY: gateway.key };
  const [upload, submit] = setupOf(gateway, "sim-avatar", "curl");
  await Deno.writeFile(join(folder, "portrait.png"), png(64, 64));
  const file = JSON.parse(await run({ language: "sh", text: upload! }, folder, environment));
  const voice = await gateway.upload("voice.wav", wav(2));
  const [program] = setupOf(gateway, "sim-avatar", "typescript");
  for (const [language, text] of [["sh", submit!], ["ts", program!]] as const) {
    const filled = text.replace("file_…", file.id).replace("file_…", voice);
    assert.match(await run({ language, text: filled }, folder, environment), /\/content\/file_/);
  }
});

/** Editors cannot be started here; what they are told is used as they use it. */
async function chatWith(baseURL: string, apiKey: string, model: string): Promise<string | null> {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const { choices } = await client.chat.completions.create({
    model,
    messages: [{ role: "user", content: "Hello!" }],
  });
  return choices[0]!.message.content;
}

Deno.test("the URL, key and model shown for Zed, Continue and Cline answer", async () => {
  await using place = await open();
  const { gateway } = place;
  const [zed] = setupOf(gateway, "sim-chat", "zed");
  const { language_models, agent } = JSON.parse(zed!);
  const { api_url, available_models } =
    language_models.openai_compatible[agent.default_model.provider];
  assert.equal(available_models[0].name, agent.default_model.model);
  assert.match((await chatWith(api_url, gateway.key, available_models[0].name))!, /simulator/);

  const [settings] = setupOf(gateway, "sim-chat", "continue");
  const { apiBase, apiKey, model } = parseYaml(settings!).models[0];
  assert.match((await chatWith(apiBase, apiKey, model))!, /simulator/);

  const [form] = setupOf(gateway, "sim-chat", "cline");
  const field = (name: string) => new RegExp(`^${name}: +(.+)$`, "m").exec(form!)![1]!;
  const said = await chatWith(field("Base URL"), field("API Key"), field("Model ID"));
  assert.match(said!, /simulator/);
});

Deno.test("programs in Python are valid Python", async () => {
  await using place = await open();
  const { gateway, folder } = place;
  const models = [...gateway.gateway.configStore.current.models.keys()];
  const programs = models.filter((id) => id.startsWith("sim-"))
    .flatMap((model) => setupsOf(gateway, model))
    .flatMap(({ snippets }) => snippets).filter(({ language }) => language === "py");
  assert.ok(programs.length >= 6);
  for (const { text } of programs) {
    await Deno.writeTextFile(join(folder, "program.py"), text);
    const check = `python3 -c 'import ast; ast.parse(open("program.py").read())'`;
    assert.equal(await run({ language: "sh", text: check }, folder, {}), "");
  }
});

Deno.test("a model is shown only with clients that can use it", async () => {
  await using gateway = await openMediaGateway({
    config: (await shippedWith()).replace(
      /capabilities: \[chat, streaming, vision, tools, json_schema\]/,
      "capabilities: [chat]",
    ),
  });
  const ids = (model: string) => setupsOf(gateway, model).map(({ id }) => id);
  assert.deepEqual(ids("sim-chat"), ["openai", "anthropic", "vercel-ai", "langchain", "curl"]);
  assert.deepEqual(ids("sim-embedding"), ["openai", "vercel-ai", "langchain", "curl"]);
  assert.deepEqual(ids("sim-image"), ["openai", "typescript", "curl"]);
  assert.deepEqual(ids("sim-speech"), ["openai", "curl"]);
  assert.deepEqual(ids("sim-video"), ["typescript", "curl"]);
});

Deno.test("clients of an API that is not released are not shown", async () => {
  await using gateway = await openMediaGateway({
    config: (await shippedWith()).replace(
      /(path: \/(?:responses|messages), operation: \w+), stage: preview/g,
      "$1, stage: planned",
    ),
  });
  const shown = setupsOf(gateway, "sim-chat");
  const ids = shown.map(({ id }) => id);
  for (const id of ["claude-code", "codex", "anthropic"]) assert.ok(!ids.includes(id), id);
  assert.equal(shown.find(({ id }) => id === "curl")!.snippets.length, 1);
});
