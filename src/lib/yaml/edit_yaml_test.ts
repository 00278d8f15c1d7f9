import assert from "node:assert/strict";
import { parse } from "yaml";
import { editYaml, YamlEditError } from "./edit_yaml.ts";

const TEXT = `# The file.
service: { name: Tollgate }   # one line

models:
  - id: fast   # the small one
    upstreams:
      # First choice.
      - provider: openai
        model: gpt-4o-mini   # as they call it
        cost:
          input_price: "0.15"     # since May
          output_price: '0.60'
          unit: 1M tokens
      # Second choice.
      - { provider: groq, model: gpt-oss }

# Prices follow.
prices:
  default:
    entries:
    - { model: fast, input_price: "0.20" } # keep
    # The end of the list.
# The end of the file.
`;

/** The lines that differ, as a unified diff shows them. */
function changedLines(before: string, after: string): string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `-${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ];
}

Deno.test("an edit changes its value and nothing else", () => {
  const first = ["models", 0, "upstreams", 0];
  const cases: [path: (string | number)[], value: unknown, changed: string[]][] = [
    [[...first, "cost", "input_price"], "0.16", [
      '-          input_price: "0.15"     # since May',
      '+          input_price: "0.16"     # since May',
    ]],
    [[...first, "cost", "output_price"], "0.7", [
      "-          output_price: '0.60'",
      '+          output_price: "0.7"',
    ]],
    // Behind the last key, also where it has a comment behind it.
    [[...first, "cost", "tiers"], [{ above_input_tokens: 200000, input_price: "1" }], [
      '+          tiers: [{ above_input_tokens: 200000, input_price: "1" }]',
    ]],
    [[...first, "priority"], 1, ["+        priority: 1"]],
    [["models", 0, "upstreams", 1, "cost"], { price: "1", unit: "image" }, [
      "-      - { provider: groq, model: gpt-oss }",
      '+      - { provider: groq, model: gpt-oss, cost: { price: "1", unit: image } }',
    ]],
    [["prices", "default", "entries", 1], { model: "slow", price: "2" }, [
      "+    - model: slow",
      '+      price: "2"',
    ]],
    [["service", "name"], "A, B", [
      "-service: { name: Tollgate }   # one line",
      '+service: { name: "A, B" }   # one line',
    ]],
  ];
  for (const [path, value, changed] of cases) {
    const after = editYaml(TEXT, [{ path, value }]);
    assert.deepEqual(changedLines(TEXT, after), changed, path.join("."));
    // What is read again is the old value with this one set.
    const expected = parse(TEXT);
    path.slice(0, -1).reduce((node, name) => node[name], expected)[path.at(-1)!] = value;
    assert.deepEqual(parse(after), expected, path.join("."));
  }
});

Deno.test("several edits are made at once, in any order", () => {
  const entries = ["prices", "default", "entries"];
  const after = editYaml(TEXT, [
    { path: [...entries, 1], value: { model: "b" } },
    { path: ["service", "name"], value: "Gate" },
    { path: [...entries, 2], value: { model: "c" } },
    { path: [...entries, 0, "output_price"], value: "1" },
    { path: [...entries, 0, "unit"], value: "1M tokens" },
  ]);
  const { service, prices } = parse(after);
  assert.equal(service.name, "Gate");
  assert.deepEqual(prices.default.entries, [
    { model: "fast", input_price: "0.20", output_price: "1", unit: "1M tokens" },
    { model: "b" },
    { model: "c" },
  ]);
  assert.match(after, /# keep\n/);
  assert.match(after, /# The end of the list\.\n# The end of the file\.\n$/);
});

Deno.test("collections that are empty, and a file without a last newline", () => {
  assert.equal(editYaml("a: {}", [{ path: ["a", "b"], value: 1 }]), "a: { b: 1 }");
  assert.equal(editYaml("a: []", [{ path: ["a", 0], value: "x" }]), "a: [ x ]");
  assert.equal(editYaml("a: 1", [{ path: ["b"], value: [true] }]), "a: 1\nb: [true]");
  assert.deepEqual(parse(editYaml("a: |\n  text\n", [{ path: ["b"], value: "1" }])), {
    a: "text\n",
    b: "1",
  });
});

Deno.test("what is not written out cannot be edited", () => {
  const text = "a: &x { b: 1 }\nc: *x\n";
  assert.throws(() => editYaml(text, [{ path: ["c", "b"], value: 2 }]), YamlEditError);
});
