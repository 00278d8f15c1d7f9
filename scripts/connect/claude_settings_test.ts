import assert from "node:assert/strict";
import { claudeEdit } from "./claude_settings.ts";

const edit = claudeEdit("/home/ann/.claude", {
  service: "Acme AI",
  baseUrl: "https://api.acme.example/v1",
  key: "sk-new",
  model: { id: "talk" },
});

const USUAL = `{
    "model": "opus",
    "env": {"FOO": "1", "ANTHROPIC_AUTH_TOKEN": "sk-old"},
    "permissions": { "allow": [ "Read" ] },
    "big": 12345678901234567890
}
`;

Deno.test("Claude Code gets its environment; every other character stays", () => {
  const edited = edit.apply(USUAL);
  assert.deepEqual(JSON.parse(edited).env, {
    FOO: "1",
    ANTHROPIC_BASE_URL: "https://api.acme.example",
    ANTHROPIC_AUTH_TOKEN: "sk-new",
    ANTHROPIC_MODEL: "talk",
    ANTHROPIC_DEFAULT_OPUS_MODEL: "talk",
    ANTHROPIC_DEFAULT_SONNET_MODEL: "talk",
    ANTHROPIC_DEFAULT_HAIKU_MODEL: "talk",
  });
  assert.ok(edited.includes('    "permissions": { "allow": [ "Read" ] },\n'));
  assert.ok(edited.includes("12345678901234567890"));
  assert.equal(edit.apply(edited), edited);
  assert.deepEqual(JSON.parse(edit.remove(edited, USUAL)), JSON.parse(USUAL));
});

Deno.test("a file that is not there is written, and is gone when the settings are removed", () => {
  const edited = edit.apply("");
  assert.ok(edit.isApplied(edited));
  assert.equal(edit.remove(edited, ""), "");
  const since = edited.replace("{", '{\n  "model": "opus",');
  assert.deepEqual(JSON.parse(edit.remove(since, "")), { model: "opus" });
});

Deno.test("settings of another gateway are not ours", () => {
  assert.equal(edit.isApplied(`{"env":{"ANTHROPIC_BASE_URL":"https://other.example"}}`), false);
});

Deno.test("a file that is not a JSON object is an error that names it", () => {
  assert.throws(() => edit.apply("{ // mine\n}"), /\.claude\/settings\.json is not valid JSON/);
  assert.throws(() => edit.apply("[]"), /settings\.json is not a JSON object/);
  assert.throws(() => edit.apply(`{"env": []}`), /settings\.json: "env" is not an object/);
});
