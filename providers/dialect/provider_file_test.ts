import assert from "node:assert/strict";
import { BadProvider, readProvider } from "./provider_file.ts";

function faultsOf(source: string): readonly string[] {
  try {
    readProvider("p.yaml", source);
  } catch (error) {
    if (error instanceof BadProvider) return error.message.split("\n").slice(1);
    throw error;
  }
  return [];
}

Deno.test("a provider.yaml with faults is rejected with all of them and their positions", () => {
  assert.deepEqual(
    faultsOf([
      "name: X",
      "base_url: ftp://x",
      "auth: { heder: x }",
      "colour: red",
      "errors:",
      "  rules:",
      "    - { status: 400, kind: broken }",
    ].join("\n")),
    [
      "p.yaml:2:11 base_url: must be an http or https URL without ? and #, such as " +
      'https://api.example.com/v1; got "ftp://x"',
      'p.yaml:3:1 auth: the key "header" is missing',
      'p.yaml:3:9 auth.heder: unknown key. Did you mean "header"?',
      "p.yaml:4:1 colour: unknown key",
      "p.yaml:7:28 errors.rules[0].kind: must be one of rejected, too_long, rate_limited, " +
      'unauthorized, overloaded, failed; got "broken"',
    ],
  );
});

Deno.test("a provider.yaml that is no YAML is rejected with the position", () => {
  const [fault] = faultsOf("name: [");
  assert.match(fault!, /^p\.yaml:1:\d+ /);
});

Deno.test("a list of objects in place of names is rejected, whatever their keys", () => {
  // Ajv compares the items of a list of unknown type by their valueOf().
  const objects = "[{ valueOf: 1 }, { valueOf: 1 }]";
  for (const block of [`parameters: { drop: ${objects} }`, `messages: { drop: ${objects} }`]) {
    assert.match(faultsOf(`name: X\nbase_url: https://a.test\n${block}`).join(), /drop/);
  }
});

Deno.test("a provider.yaml with all keys is valid", () => {
  assert.deepEqual(
    faultsOf(`
name: Everything
base_url: https://a.test/v1
auth: { header: X-Key, prefix: "Key " }
headers: { X-Tier: gold }
path: /chat/{model}
parameters:
  rename: { max_completion_tokens: max_tokens }
  drop: [store]
  refuse: [logprobs]
  keep: { temperature: { min: 0, max: 1 }, n: { max: 1, otherwise: refuse } }
  defaults: { top_k: 40, safe: { level: 1 } }
messages:
  roles: { developer: system }
  drop: [name]
stream: { ask_usage: false }
reasoning: [thoughts]
finish_reasons: { eos: stop, crashed: failed }
usage:
  input: [/usage/in, /meta/in]
  cached_input: /usage/cached
  output: /usage/out
  reasoning: /usage/thought
  input_includes_cached: false
  output_includes_reasoning: false
errors:
  at: [/error, /detail]
  rules:
    - { status: [400, 422], code: [1, "x"], type: t, message: too big, kind: too_long }
`),
    [],
  );
});

Deno.test("an alias within its own anchor is a fault with a line, not a stack", () => {
  for (
    const [source, where] of [
      ["&a [*a]", "x.yaml:1:5"],
      ["name: x\nreasoning: &a [*a]", "x.yaml:2:16"],
      ["name: x\nerrors: &e\n  rules: [{ kind: *e }]", "x.yaml:3:19"],
    ] as const
  ) {
    assert.throws(() => readProvider("x.yaml", source), (error: Error) => {
      assert.equal(error.name, "BadProvider");
      assert.match(error.message, /is inside its own anchor/);
      assert.ok(error.message.includes(where), error.message);
      return true;
    });
  }
});
