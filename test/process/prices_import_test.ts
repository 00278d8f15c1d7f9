import assert from "node:assert/strict";
import { join } from "node:path";
import { runCli } from "../helpers/run_cli.ts";

const CONFIG = `# Prices of a small shop.
providers:
  openai: { adapter: openai, api_key: "\${OPENAI_API_KEY:-sk-test}" }
  groq:
    adapter: openai_compatible
    base_url: https://api.groq.example/v1
    api_key: "\${GROQ_API_KEY:-gsk-test}"
models:
  - id: fast
    name: Fast
    type: chat
    capabilities: [chat]
    limits: { context_tokens: 128000, max_output_tokens: 16000 }
    upstreams:
      - provider: openai
        model: gpt-4o-mini   # the cheap one
        cost: { input_price: "0.15", output_price: "0.60", cached_input_price: "0.075", unit: 1M tokens }
      # If the first one fails.
      - provider: groq
        model: openai/gpt-oss-20b
  - id: slow
    name: Slow
    type: chat
    capabilities: [chat]
    limits: { context_tokens: 128000, max_output_tokens: 16000 }
    upstreams: [{ provider: openai, model: o-none }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - model: fast
        billing_type: token
        input_price: "0.0002"   # since May
        output_price: "0.0008"
        unit: 1K tokens
      - { model: slow, billing_type: token, input_price: "1", output_price: "2", unit: 1M tokens }
`;

const CATALOGUE = {
  "gpt-4o-mini": {
    litellm_provider: "openai",
    input_cost_per_token: 1.6e-7,
    output_cost_per_token: 6e-7,
  },
  "groq/openai/gpt-oss-20b": {
    litellm_provider: "groq",
    input_cost_per_token: 1e-7,
    output_cost_per_token: 5e-7,
  },
};

async function openShop() {
  const folder = await Deno.makeTempDir();
  const [file, catalogue] = [join(folder, "gateway.yaml"), join(folder, "prices.json")];
  await Deno.writeTextFile(file, CONFIG);
  await Deno.writeTextFile(catalogue, JSON.stringify(CATALOGUE));
  const env = { GATEWAY_CONFIG: file, DATA_DIR: folder };
  return {
    file,
    catalogue,
    read: () => Deno.readTextFile(file),
    run: (...args: string[]) => runCli(["prices", ...args], env),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

Deno.test("prices import shows what would change, and writes only what it shows", async () => {
  await using shop = await openShop();
  const args = ["import", shop.catalogue, "--format", "litellm", "--markup", "1.25"];
  const shown = await shop.run(...args);
  assert.equal(shown.code, 0, shown.err);
  assert.equal(await shop.read(), CONFIG, "nothing is written");
  assert.match(shown.out, /fast +openai\/gpt-4o-mini +input_price +"0.15" +→ +"0.16" +\+6.7 %/);
  assert.match(shown.out, /slow +openai\/o-none +not in the catalogue/);
  assert.match(shown.out, /3 changes\. Nothing is written without --write\./);

  const written = await shop.run(...args, "--write");
  assert.equal(written.code, 0, written.err);
  assert.equal(
    await shop.read(),
    CONFIG
      .replace('{ input_price: "0.15"', '{ input_price: "0.16"')
      .replace(
        "        model: openai/gpt-oss-20b\n",
        '        model: openai/gpt-oss-20b\n        cost: { input_price: "0.10", output_price: "0.50", unit: 1M tokens }\n',
      )
      // The dearest upstream times 1.25, in the unit that the price has: 0.16 is 0.20 for a million.
      .replace('output_price: "0.0008"', 'output_price: "0.00075"'),
  );
  const again = await shop.run(...args);
  assert.match(again.out, /Nothing to change/);
});

Deno.test("prices import takes a model of several, and prices only with a markup", async () => {
  await using shop = await openShop();
  const args = ["import", shop.catalogue, "--format", "litellm", "--json"];
  const { out } = await shop.run(...args);
  const { changes, skipped } = JSON.parse(out);
  assert.ok(changes.every(({ upstream }: { upstream: string | null }) => upstream !== null));
  assert.equal(skipped.length, 1);
  const other = JSON.parse((await shop.run(...args, "--models", "slow")).out);
  assert.deepEqual(other.changes, []);
});

Deno.test("prices import says what is wrong with its arguments, and changes nothing", async () => {
  await using shop = await openShop();
  const litellm = ["--format", "litellm"];
  const cases: [args: string[], message: RegExp][] = [
    [[shop.catalogue], /--format litellm or --format models-dev/],
    [["missing.json", ...litellm], /missing\.json does not exist/],
    [[shop.file, ...litellm], /The file is not JSON/],
    [[shop.catalogue, ...litellm, "--book", "vip"], /no price book vip: default/],
    [[shop.catalogue, ...litellm, "--markup", "25%"], /--markup 25% is not a factor/],
    [[shop.catalogue, ...litellm, "--models", "fast,nope"], /no model nope/],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await shop.run("import", ...args);
    assert.equal(code, 2, err);
    assert.match(err, message);
  }
  assert.equal(await shop.read(), CONFIG);
});

Deno.test("prices export lists every amount in force, and the costs", async () => {
  await using shop = await openShop();
  const { code, out } = await shop.run("export");
  assert.equal(code, 0);
  assert.deepEqual(out.trim().split("\r\n"), [
    "model,upstream,unit,applies,amount_of,amount",
    "fast,,1K tokens,,input_price,0.0002",
    "fast,,1K tokens,,output_price,0.0008",
    "fast,openai/gpt-4o-mini,1M tokens,,input_price,0.15",
    "fast,openai/gpt-4o-mini,1M tokens,,output_price,0.60",
    "fast,openai/gpt-4o-mini,1M tokens,,cached_input_price,0.075",
    "slow,,1M tokens,,input_price,1",
    "slow,,1M tokens,,output_price,2",
  ]);
});
