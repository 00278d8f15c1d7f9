import assert from "node:assert/strict";
import fc from "fast-check";
import { parse, type TomlTable } from "smol-toml";
import { codexEdits } from "./codex_settings.ts";
import type { SettingsEdit } from "./settings_edit.ts";

const ADDRESS = {
  service: "Acme AI",
  baseUrl: "https://api.acme.example/v1",
  key: "sk-new",
  model: { id: "talk" },
};

const config = (): SettingsEdit => codexEdits("/home/ann/.codex", ADDRESS)[0]!;
const variables = (): SettingsEdit => codexEdits("/home/ann/.codex", ADDRESS)[1]!;

const USUAL = `# My settings
model = "gpt-5.1-codex" # the good one
approval_policy = "on-request"
notify = [
  "notify-send", # "quoted"
  "model = 1",
]

# Tools
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"] # [not.a.table]

[profiles.fast]
model = "gpt-5.1-mini"
instructions = """
[model_providers.acme-ai]
model = "no"
"""
# The end.
`;

Deno.test("Codex gets a provider and a model; comments and all other settings stay", () => {
  const edited = config().apply(USUAL);
  assert.equal(
    edited,
    USUAL.replace('"gpt-5.1-codex" #', '"talk" #').replace(
      "]\n\n# Tools",
      ']\nmodel_provider = "acme-ai"\n\n# Tools',
    ) + `
[model_providers.acme-ai]
name = "Acme AI"
base_url = "https://api.acme.example/v1"
env_key = "ACME_AI_API_KEY"
wire_api = "responses"
`,
  );
  assert.equal(config().apply(edited), edited);
  assert.equal(config().remove(edited, USUAL), USUAL);
});

Deno.test("an empty file and one with tables only get what Codex reads, and lose it again", () => {
  for (const before of ["", "[tui]\nnotifications = true\n"]) {
    const edited = config().apply(before);
    assert.ok(config().isApplied(edited));
    assert.equal(parse(edited).model_provider, "acme-ai");
    assert.equal(config().remove(edited, before), before);
  }
});

Deno.test("what was changed since stays when the settings are removed", () => {
  const since = config().apply(USUAL).replace('"on-request"', '"never"')
    .replace('model_provider = "acme-ai"', 'model_provider = "other"');
  const removed = parse(config().remove(since, USUAL));
  assert.equal(removed.approval_policy, "never");
  assert.equal(removed.model_provider, "other");
  assert.equal(removed.model, "talk", "it is the other provider's model now");
  assert.equal(removed.model_providers, undefined);
});

Deno.test("a provider of the same name keeps what else it has, and gets its values back", () => {
  const before = `[model_providers.acme-ai]
name = "Old" # mine
# Slow at night.
stream_idle_timeout_ms = 600000

[model_providers.acme-ai.http_headers]
x = "1"

[model_providers.other]
name = "Other"
`;
  const edited = config().apply(before);
  const { "acme-ai": ours, other } = parse(edited).model_providers as Record<string, TomlTable>;
  assert.deepEqual([ours!.name, ours!.stream_idle_timeout_ms], ["Acme AI", 600000]);
  assert.ok(edited.includes('name = "Acme AI" # mine\n# Slow at night.\n'));
  assert.deepEqual({ ...other }, { name: "Other" });
  assert.equal(config().remove(edited, before), before);
  const { model_providers } = parse(config().remove(edited, ""));
  assert.deepEqual(Object.keys(model_providers as TomlTable), ["other"]);
});

Deno.test("a file that is not TOML, or written in another way, is an error", () => {
  assert.throws(() => config().apply("model = \n"), /config\.toml is not valid TOML/);
  assert.throws(
    () => config().apply(`model_providers = { other = { name = "Other" } }\n`),
    /config\.toml/,
  );
  assert.throws(() => config().apply(`model_providers = 1\n`), /model_providers is not a table/);
});

Deno.test("whatever a file has: it is kept, or the file is refused", () => {
  const line = fc.constantFrom(
    'model = "x" # kept',
    "model_provider = 'old'",
    "[a]",
    '[a."b.c"]',
    "[[list]]",
    "[model_providers.acme-ai]",
    "[model_providers.other]",
    'name = "n"',
    'text = """\n[model_providers.acme-ai]\nmodel = 1\n"""',
    "'quoted = key' = '''\n# no comment\n'''",
    "array = [\n  1, # one\n  [2, 3],\n]",
    "inline = { model = 1, b = [ { c = 2 } ] }",
    "date = 2026-01-01T00:00:00Z",
    "# model = 1",
    "",
  );
  let edits = 0;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.boolean(), (lines, isEnded) => {
      const before = lines.join("\n") + (isEnded ? "\n" : "");
      const [edited, content] = [
        attempt(() => config().apply(before)),
        attempt(() => parse(before)),
      ];
      if (edited === null || content === null) return;
      edits++;
      const { model: _, model_provider: __, model_providers: ___, ...others } = parse(edited);
      const { model: a, model_provider: b, model_providers: c, ...kept } = content;
      assert.deepEqual(others, kept);
      assert.equal(config().apply(edited), edited);
      const comments = (text: string) => text.split("\n").filter((each) => each.startsWith("#"));
      assert.deepEqual(comments(edited), comments(before));
      void [a, b, c];
    }),
    { numRuns: 500 },
  );
  assert.ok(edits > 100, `${edits} could be edited`);
});

function attempt<T>(run: () => T): T | null {
  try {
    return run();
  } catch {
    return null; // not TOML, or not in a way that can be edited
  }
}

Deno.test("the key is a line of the file of variables", () => {
  const before = "# mine\nOTHER=1\nexport ACME_AI_API_KEY = sk-old\nLAST=2";
  const edited = variables().apply(before);
  assert.equal(edited, "# mine\nOTHER=1\nACME_AI_API_KEY=sk-new\nLAST=2");
  assert.equal(variables().remove(edited, before), before);
  assert.equal(variables().apply("A=1"), "A=1\nACME_AI_API_KEY=sk-new\n");
  assert.equal(variables().remove("A=1\nACME_AI_API_KEY=sk-new\n", "A=1"), "A=1\n");
});
