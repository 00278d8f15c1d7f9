import assert from "node:assert/strict";
import { join } from "node:path";
import { runCliHere } from "../helpers/run_cli.ts";

const CASES = new URL("../import_cases/", import.meta.url).pathname;
const TEAM = join(CASES, "litellm_team");
const LITELLM = [
  "import",
  "litellm",
  join(TEAM, "config.yaml"),
  "--prices",
  join(TEAM, "prices.json"),
];

async function openFolder() {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "gateway.yaml");
  return {
    file,
    read: () => Deno.readTextFile(file),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

Deno.test("import litellm shows the configuration and a report, and writes only with --write", async () => {
  await using folder = await openFolder();
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
  await using folder = await openFolder();
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
