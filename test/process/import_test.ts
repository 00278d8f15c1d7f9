import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { openConfigFolder } from "../helpers/config_folder.ts";
import { EMULATED_KEY, serveProvider } from "../helpers/emulated_provider.ts";
import { ADMIN_TOKEN, openGateway } from "../helpers/open_gateway.ts";
import { runCliHere } from "../helpers/run_cli.ts";

const CASES = new URL("../import_cases/", import.meta.url).pathname;
const TEAM = join(CASES, "litellm_team");
const DUMP = join(CASES, "new_api_shop", "dump.json");
const LITELLM = [
  "import",
  "litellm",
  join(TEAM, "config.yaml"),
  "--prices",
  join(TEAM, "prices.json"),
];

Deno.test("import litellm shows the configuration and a report, and writes only with --write", async () => {
  await using folder = await openConfigFolder();
  const shown = await runCliHere(LITELLM);
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /^# yaml-language-server: /);
  assert.match(shown.err, /^Taken:\n {2}gpt-4o +chat, 3 upstreams/);
  assert.match(shown.err, /Nothing is written without --write <file>\.\n$/);
  await assert.rejects(folder.read(), Deno.errors.NotFound);

  const written = await runCliHere([...LITELLM, "--write", folder.file]);
  assert.equal(written.code, 0, written.err);
  assert.match(written.out, /gateway\.yaml written\. Set the variables, then/);
  const schema = /^# yaml-language-server: .*\n/;
  assert.equal(
    (await folder.read()).replace(schema, ""),
    shown.out.replace(schema, "").slice(0, -1),
  );

  const again = await runCliHere([...LITELLM, "--write", folder.file]);
  assert.equal(again.code, 2);
  assert.match(again.err, /gateway\.yaml exists\. --force replaces it\./);
  const forced = await runCliHere([...LITELLM, "--write", folder.file, "--markup", "2", "--force"]);
  assert.equal(forced.code, 0, forced.err);
  assert.match(await folder.read(), /model: gpt-4o\n +billing_type: token\n +input_price: "5\.00"/);
});

Deno.test("the configuration that import litellm writes passes check once its variables are set", async () => {
  await using folder = await openConfigFolder();
  const { out } = await runCliHere([...LITELLM, "--write", folder.file, "--json"]);
  const { variables, warnings, left_out } = JSON.parse(out);
  assert.ok(left_out.length > 0);
  const unset = await runCliHere(["check", folder.file]);
  assert.equal(unset.code, 1);
  assert.match(unset.out, /the environment variable AZURE_SWEDEN_KEY is not set/);
  const environment = Object.fromEntries(
    variables.map(({ name }: { name: string }) => [name, "https://x.example/v1"]),
  );
  const checked = await runCliHere(["check", folder.file, "--json"], environment);
  assert.equal(checked.code, 0, checked.out);
  assert.equal(JSON.parse(checked.out).issues.length, warnings.length);
});

Deno.test("import says what is wrong with its arguments", async () => {
  const config = LITELLM[2]!;
  const cases: [args: string[], message: RegExp][] = [
    [[], /Missing argument: <config\.yaml>/],
    [["no-such-file.yaml"], /no-such-file\.yaml does not exist/],
    [[CASES], /is a folder/],
    [[config, "--markup", "25%"], /--markup 25% is not a factor/],
    [[config, "--prices", config], /--prices: The file is not JSON/],
    [[config, "--prices", "no-such-list.json"], /no-such-list\.json does not exist/],
    [[join(TEAM, "prices.json")], /prices\.json:\d+:\d+ model_list: expected a list/],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await runCliHere(["import", "litellm", ...args]);
    assert.equal(code, 2, err);
    assert.match(err, message);
  }
});

Deno.test("import new-api shows a configuration, and commands for accounts instead with --accounts", async () => {
  await using folder = await openConfigFolder();
  const shown = await runCliHere(["import", "new-api", DUMP]);
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /^# yaml-language-server: /);
  assert.match(shown.err, /group vip +plan vip with a price book, times 0\.8/);
  const written = await runCliHere([
    "import",
    "new-api",
    DUMP,
    "--accounts",
    "--write",
    folder.file,
  ]);
  assert.match(written.out, /^#!\/bin\/sh\n/);
  assert.match(await folder.read(), /^ {2}vip: \{ name: vip, price_book: vip \}$/m);
  const none = join(CASES, "litellm_team", "prices.json");
  const refused = await runCliHere(["import", "new-api", none]);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /prices\.json: channels: /);
});

Deno.test("the commands of import new-api --accounts make accounts with balances and keys, once", async () => {
  await using folder = await openConfigFolder();
  const args = ["import", "new-api", DUMP, "--write", folder.file];
  const { variables } = JSON.parse((await runCliHere([...args, "--json"])).out);
  const { out: script } = await runCliHere(["import", "new-api", DUMP, "--accounts"]);
  await using gateway = await openGateway({
    config: await folder.read(),
    environment: Object.fromEntries(
      variables.map(({ name }: { name: string }) => [name, "https://x.example/v1"]),
    ),
  });
  const env = {
    GATEWAY_URL: gateway.address,
    ADMIN_TOKEN,
    CREATED: `${folder.file}.created`,
    NO_COLOR: "1",
    // The commands call the Deno of the operator who runs them.
    PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`,
  };
  for (const keysPrinted of [2, 0]) {
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", script],
      cwd: new URL("../../", import.meta.url),
      env,
    }).output();
    const printed = new TextDecoder().decode(stdout);
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    assert.equal(printed.match(/API key created/g)?.length ?? 0, keysPrinted);
  }
  const { data } = await (await gateway.admin("GET", "/accounts")).json();
  assert.equal(data.length, 5, "four users, and the account of the test");
  const ann = data.find(({ email }: { email: string | null }) => email === "ann@example.com");
  assert.deepEqual([ann.name, ann.plan], ["Ann O'Neill", "vip"]);
  const { balance } = await (await gateway.admin("GET", `/accounts/${ann.id}`)).json();
  assert.equal(balance.cash_balance, "12.500002");
  const keys = await (await gateway.admin("GET", `/accounts/${ann.id}/keys`)).json();
  const named = keys.data.map(({ name, models }: { name: string; models: string[] | null }) => [
    name,
    models,
  ]);
  assert.deepEqual(named.sort(), [["ci; rm -rf '/'", ["gpt-4o", "house-llama"]], ["laptop", null]]);
});

/** A file of another gateway with one model, whose provider is at this URL. */
const FILES: Record<string, (origin: string) => string> = {
  litellm: (origin) => `
model_list:
  - model_name: talk
    litellm_params:
      model: openai/gpt-4o-mini
      api_base: ${origin}/v1
      api_key: a-key-that-is-not-copied
      input_cost_per_token: 0.00001
      output_cost_per_token: 0.00002
router_settings: { model_group_alias: { chatter: talk } }
`,
  "new-api": (origin) =>
    JSON.stringify({
      channels: [{
        id: 1,
        type: 1,
        name: "main",
        status: 1,
        base_url: origin,
        models: "talk,chatter",
      }],
      options: {
        ModelRatio: '{"talk": 5, "chatter": 5}',
        CompletionRatio: '{"talk": 2, "chatter": 2}',
      },
    }),
};

for (const [from, textFor] of Object.entries(FILES)) {
  Deno.test(`a gateway with what was imported from ${from} answers a chat at the same price`, async () => {
    await using folder = await openConfigFolder();
    await using provider = serveProvider("openai_compatible");
    const source = `${folder.file}.source`;
    await Deno.writeTextFile(source, textFor(new URL(provider.baseUrl).origin));
    const { out, err } = await runCliHere([
      "import",
      from,
      source,
      "--write",
      folder.file,
      "--json",
    ]);
    const { variables } = JSON.parse(out || err);
    assert.equal(variables.length, 1);
    await using gateway = await openChatGateway({
      config: await folder.read(),
      environment: { [variables[0].name]: EMULATED_KEY },
    });
    const res = await gateway.chat("chatter", "Hello");
    assert.equal(res.status, 200, await res.clone().text());
    const { usage } = await res.json();
    const { settled } = await gateway.receipt(res);
    const expected = usage.prompt_tokens * 0.00001 + usage.completion_tokens * 0.00002;
    assert.ok(Math.abs(Number(settled) - expected) < 1e-6, `${settled}, not ${expected}`);
    assert.deepEqual(provider.strange, []);
  });
}
