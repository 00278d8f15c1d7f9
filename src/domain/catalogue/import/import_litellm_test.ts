import assert from "node:assert/strict";
import { importLitellm } from "./import_litellm.ts";
import { ImportError } from "./imported.ts";

const OPTIONS = { priceList: null, markup: "1", now: Date.parse("2026-11-16T12:00:00Z") };
const COSTS = "input_cost_per_token: 1e-6, output_cost_per_token: 2e-6";

const importText = (text: string) => importLitellm("config.yaml", text, OPTIONS);

/** Deployments of one model, each with these parameters. */
function importDeployments(...params: string[]) {
  const entries = params.map((each) =>
    `  - { model_name: m, litellm_params: { ${each}, ${COSTS} } }`
  );
  return importText(["model_list:", ...entries].join("\n"));
}

Deno.test("what is wrong with the file is said with its line and path, and without its values", () => {
  const cases: [text: string, message: RegExp][] = [
    ["", /^config\.yaml:1:1 expected a mapping/],
    ["- a\n", /^config\.yaml:1:\d+ expected a mapping/],
    ["model_list: sk-secret\n", /^config\.yaml:1:13 model_list: expected a list$/],
    ["a: {\n", /^config\.yaml:\d+:\d+ /],
    ["a: 1\n<<: *b\n", /^config\.yaml:2:\d+ .*merge keys/],
    [
      "model_list:\n  - model_name: a\n  - litellm_params: { model: [sk-secret] }\n",
      /^config\.yaml:2:\d+ model_list\[0\]\.litellm_params: expected a mapping\n.*\nconfig\.yaml:3:\d+ model_list\[1\]\.model_name: expected a text\nconfig\.yaml:3:\d+ model_list\[1\]\.litellm_params\.model: expected a text$/,
    ],
    [
      'model_list:\n  - { model_name: "*", litellm_params: { model: "openai/*" } }\n',
      /^config\.yaml: no model can be imported\.\n\* \(model_list\[0\]\): wildcards/,
    ],
    [
      "model_list: [{ model_name: m, litellm_params: { model: openai/m } }]",
      /m: no price: neither the file nor --prices has one/,
    ],
  ];
  for (const [text, message] of cases) {
    assert.throws(() => importText(text), { name: ImportError.name, message }, text);
  }
  const long = `model_list:\n${"  - 1\n".repeat(100)}`;
  assert.throws(() => importText(long), /… and \d+ more$/);
  assert.throws(() => importText("a".repeat(3 * 1024 * 1024)), /larger than 2 MiB/);
});

Deno.test("a key in the file never gets a variable that has another key", () => {
  const { draft, variables } = importDeployments(
    "model: openai/a, api_key: sk-1",
    "model: openai/b, api_key: sk-2",
    "model: openai/c",
    "model: openai/d, api_key: os.environ/OPENAI_API_KEY_2",
    "model: openai/e, api_key: sk-1",
  );
  const keys = Object.values(draft.providers).map(({ api_key }) => api_key);
  assert.deepEqual(keys, [
    "${OPENAI_API_KEY_3}",
    "${OPENAI_2_API_KEY}",
    "${OPENAI_API_KEY}",
    "${OPENAI_API_KEY_2}",
  ]);
  assert.equal(new Set(variables.map(({ name }) => name)).size, 4);
  const { upstreams } = draft.models[0]!;
  assert.equal(upstreams[4]!.provider, upstreams[0]!.provider, "equal keys are one provider");
});

Deno.test("weights, limits of requests and orders become weights and priorities", () => {
  const cases: [params: string[], placed: [priority?: number, weight?: number][]][] = [
    [["weight: 2", "weight: 6"], [[, 1], [, 3]]],
    [["weight: 0.5", "weight: 0.5"], [[], []]],
    [["rpm: 100", "rpm: 50"], [[, 2], [, 1]]],
    [["tpm: 1000000", "tpm: 1"], [[, 1000], [, 1]]],
    [["rpm: 100", "tpm: 50"], [[], []]],
    [["order: 5", "order: 7", "tags: [a]"], [[0], [1], [2]]],
    [["weight: 1", "weight: -1"], [[], []]],
  ];
  for (const [params, placed] of cases) {
    const all = params.map((each) => `model: openai/m, ${each}`);
    const [model] = importDeployments(...all).draft.models;
    assert.deepEqual(
      model!.upstreams.map(({ priority, weight }) => [priority, weight]),
      placed.map(([priority, weight]) => [priority, weight]),
      params.join("; "),
    );
  }
});

Deno.test("no more upstreams are taken than a model can have", () => {
  const params = Array.from({ length: 40 }, (_, at) => `model: openai/m-${at}`);
  const { draft, notes } = importDeployments(...params);
  assert.equal(draft.models[0]!.upstreams.length, 32);
  assert.ok(notes.leftOut.some(({ text }) => text === "upstreams after the first 32"));
});

Deno.test("no more providers are made than a configuration can have", () => {
  const entries = Array.from(
    { length: 1001 },
    (_, at) =>
      `  - { model_name: m${at}, litellm_params: { model: openai/m, api_key: sk-${at}, ${COSTS} } }`,
  );
  assert.throws(
    () => importText(["model_list:", ...entries].join("\n")),
    /^ImportError: model_list\[1000\]: the configuration would have more than 1000 providers$/,
  );
});

Deno.test("a URL gets the path that the adapter expects, and is a secret where it has a password", () => {
  const cases: [params: string, baseUrl: string | undefined, adapter: string][] = [
    ["model: openai/m", undefined, "openai"],
    [
      "model: openai/m, api_base: https://api.openai.com/v1/",
      "https://api.openai.com/v1",
      "openai",
    ],
    [
      "model: openai/m, api_base: https://x.example/v1/chat/completions",
      "https://x.example/v1",
      "openai_compatible",
    ],
    ["model: anthropic/m, api_base: https://x.example", "https://x.example/v1", "anthropic"],
    ["model: ollama/m, api_base: https://x.example:11434/", "https://x.example:11434/v1", "ollama"],
    [
      "model: azure/m, api_base: https://x.example/, api_version: 1",
      "https://x.example?api-version=1",
      "azure_openai",
    ],
    [
      "model: openai/m, api_base: https://x.example/v1?key=1",
      "${OPENAI_BASE_URL}",
      "openai_compatible",
    ],
    [
      "model: openai/m, api_base: https://a:b@x.example/v1",
      "${OPENAI_BASE_URL}",
      "openai_compatible",
    ],
    ["model: mistral/m", "https://api.mistral.ai/v1", "openai_compatible"],
    ["model: m, custom_llm_provider: groq", undefined, "groq"],
  ];
  for (const [params, baseUrl, adapter] of cases) {
    const [provider] = Object.values(importDeployments(params).draft.providers);
    assert.deepEqual([provider!.base_url, provider!.adapter], [baseUrl, adapter], params);
  }
});
