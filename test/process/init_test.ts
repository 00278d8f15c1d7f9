import assert from "node:assert/strict";
import { openAdapters } from "../../providers/registry.ts";
import { shippedModels } from "../../scripts/generate_starter_models.ts";
import { readProviders } from "../../src/cli/init.ts";
import shipped from "../../src/domain/catalogue/starter/shipped_models.json" with { type: "json" };
import { STARTER_PROVIDERS } from "../../src/domain/catalogue/starter/starter_providers.ts";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { openConfigFolder } from "../helpers/config_folder.ts";
import { EMULATED_KEY, serveProvider, WIRES } from "../helpers/emulated_provider.ts";
import { runCliHere } from "../helpers/run_cli.ts";
import { SHIPPED } from "../helpers/valid_config.ts";

/** Every variable that a new file can refer to. */
const ENVIRONMENT = Object.fromEntries(
  Object.values(STARTER_PROVIDERS).flatMap(({ apiKey, baseUrl }) => [
    ...(apiKey === null ? [] : [[apiKey, EMULATED_KEY]]),
    ...(baseUrl === undefined ? [] : [[baseUrl, "https://models.example/v1"]]),
  ]),
);

async function openFolder() {
  const opened = await openConfigFolder();
  const { folder, file } = opened;
  return {
    ...opened,
    init: (...args: string[]) =>
      runCliHere(["init", ...args], { GATEWAY_CONFIG: file, DATA_DIR: folder }),
    check: () => runCliHere(["check", file, "--json"], ENVIRONMENT),
  };
}

Deno.test("init offers every shipped adapter, and the models of the shipped configuration", () => {
  assert.deepEqual(Object.keys(STARTER_PROVIDERS).sort(), [...openAdapters().keys()].sort());
  assert.deepEqual(shipped, shippedModels(SHIPPED), "run `deno task generate`");
});

Deno.test("init writes a file without errors and warnings for every provider, and for all of them", async () => {
  await using folder = await openFolder();
  const names = Object.keys(STARTER_PROVIDERS);
  for (const providers of [...names, names.join(",")]) {
    const { code, err } = await folder.init("--providers", providers, "--force");
    assert.equal(code, 0, err);
    const { ok, issues } = JSON.parse((await folder.check()).out);
    assert.ok(ok, providers);
    assert.deepEqual(issues, [], providers);
    // Neither a key nor a price that nothing vouches for.
    const text = await folder.read();
    assert.doesNotMatch(text, /api_key: (?!\$\{[A-Z_]+\}$)/m);
    for (const [, price] of text.matchAll(/price: "([\d.]+)"/g)) {
      assert.ok(SHIPPED.includes(`"${price}"`), `${providers}: ${price}`);
    }
  }
});

for (const name of ["openai", "anthropic", "gemini", "groq", "ollama", "simulator"]) {
  Deno.test(`a gateway with the file that init writes for ${name} answers a chat and charges it`, async () => {
    await using folder = await openFolder();
    const { out } = await folder.init("--providers", name, "--json");
    const model = JSON.parse(out).models[0];
    await using provider = serveProvider(name in WIRES ? name : "openai");
    await using gateway = await openChatGateway({
      config: (await folder.read())
        .replace(`adapter: ${name}\n`, `adapter: ${name}\n    base_url: ${provider.baseUrl}\n`)
        .replace(/(adapter: simulator\n) {4}base_url: .*\n/, "$1"),
      environment: ENVIRONMENT,
    });
    const res = await gateway.chat(model, "Hello");
    assert.equal(res.status, 200, await res.clone().text());
    const { choices } = await res.json();
    assert.notEqual(choices[0].message.content, "");
    assert.ok(Number((await gateway.receipt(res)).settled) > 0);
    assert.deepEqual(provider.strange, []);
  });
}

Deno.test("init says what to do next, and which providers have no shipped model", async () => {
  await using folder = await openFolder();
  const { out } = await folder.init("--providers", "openai,azure-openai");
  assert.match(out, /No model of azure_openai is in it: their prices are not shipped\./);
  for (const name of ["OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL"]) {
    assert.ok(out.includes(`export ${name}=`), name);
  }
  assert.match(out, /npm start/);
  assert.match(out, /curl http:\/\/127\.0\.0\.1:8787\/v1\/chat\/completions .*"model":"gpt-fast"/);
  assert.match(await folder.read(), /# {3}upstreams: \[\{ provider: azure_openai,/);
  const alone = await folder.init("--providers", "ollama", "--force");
  assert.match(alone.out, /until then the simulator answers as sim-chat/);
});

Deno.test("init never replaces a file without --force", async () => {
  await using folder = await openFolder();
  await Deno.writeTextFile(folder.file, "mine");
  const { code, err } = await folder.init("--providers", "openai");
  assert.equal(code, 2);
  assert.match(err, /gateway\.yaml exists\. --force replaces it/);
  assert.equal(await folder.read(), "mine");
  assert.equal((await folder.init("--providers", "openai", "--force")).code, 0);
  assert.match(await folder.read(), /adapter: openai/);
});

Deno.test("init lists the known providers for an unknown one, and writes nothing", async () => {
  await using folder = await openFolder();
  const { code, err } = await folder.init("--providers", "openai,antropic");
  assert.equal(code, 2);
  assert.match(err, /There is no provider antropic\. Did you mean "anthropic"\?/);
  for (const name of Object.keys(STARTER_PROVIDERS)) assert.ok(err.includes(name), name);
  await assert.rejects(folder.read(), Deno.errors.NotFound);
  const nowhere = await folder.init("--providers", "openai", "--file", "/no/such/folder/g.yaml");
  assert.match(nowhere.err, /the folder \/no\/such\/folder does not exist/);
});

Deno.test("the answer to the question for providers has numbers of the list or names", () => {
  assert.deepEqual(readProviders("1, anthropic 1"), ["openai", "anthropic"]);
  assert.throws(() => readProviders("0"), /There is no provider 0/);
  assert.throws(() => readProviders(" , "), /Name at least one provider/);
});
