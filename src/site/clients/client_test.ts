import assert from "node:assert/strict";
import { parse as parseToml } from "smol-toml";
import { parse as parseYaml } from "yaml";
import { type ModelConnection, providerId } from "./client.ts";
import { clientsFor } from "./clients.ts";
import { shellQuote } from "./shell_quote.ts";

const AWKWARD: ModelConnection = {
  service: `Bob's "AI" & Söhne`,
  baseUrl: "https://api.example.com/v1",
  paths: new Set(["/chat/completions", "/responses", "/messages"]),
  key: null,
  model: {
    id: `org/it's "quoted": yes`,
    name: `It's: "x" # y`,
    type: "chat",
    capabilities: new Set(["chat", "streaming", "tools"]),
    limits: {},
    example: { path: "/chat/completions", body: {}, output: null },
  },
};

Deno.test("settings with awkward names are still valid, and name the model exactly", () => {
  const textOf = (client: string, at = 0) =>
    clientsFor(AWKWARD).find(({ id }) => id === client)!.snippets[at]!.text;
  const { id, name } = AWKWARD.model;
  const codex = parseToml(textOf("codex"));
  assert.equal(codex.model, id);
  assert.deepEqual(Object.keys(codex.model_providers as object), [codex.model_provider]);
  assert.equal(JSON.parse(textOf("claude-code", 1)).env.ANTHROPIC_MODEL, id);
  assert.equal(JSON.parse(textOf("opencode")).model, `${codex.model_provider}/${id}`);
  assert.equal(JSON.parse(textOf("zed")).agent.default_model.model, id);
  const { models } = parseYaml(textOf("continue"));
  assert.deepEqual([models[0].name, models[0].model], [name, id]);
  const { success, stdout } = new Deno.Command("sh", {
    args: ["-c", textOf("claude-code").replace(/claude$/, "printenv ANTHROPIC_MODEL")],
  }).outputSync();
  assert.ok(success);
  assert.equal(new TextDecoder().decode(stdout), `${id}\n`);
});

Deno.test("the gateway's name in settings is none that clients have taken", () => {
  const named = (service: string) => providerId({ service });
  assert.equal(named("Acme AI"), "acme-ai");
  assert.equal(named("Bürgerdienst 2"), "burgerdienst-2");
  assert.equal(named("OpenAI"), "openai-gateway");
  assert.equal(named("智能"), "ai-gateway");
});

Deno.test("a word for the shell is quoted only where it has to be", () => {
  assert.equal(shellQuote("org/model:v1"), "org/model:v1");
  assert.equal(shellQuote("it's"), `'it'\\''s'`);
  assert.equal(shellQuote(""), "''");
});
