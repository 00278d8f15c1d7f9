import assert from "node:assert/strict";
import { join } from "node:path";
import { ADMIN_TOKEN, openGateway } from "../helpers/open_gateway.ts";
import { Visitor } from "../helpers/visitor.ts";
import { statusOf } from "../helpers/status_of.ts";
import { runCli } from "../helpers/run_cli.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

const cli = runCli;

Deno.test("gateway check prints five different errors at once, each with its line and a caret", async () => {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "gateway.yaml");
  await Deno.writeTextFile(
    file,
    [
      "service: { nmae: X }",
      "providers:",
      "  simulator: { adapter: simulator, api_key: sk-in-the-file }",
      "models:",
      "  - id: a",
      "    name: A",
      "    type: chatt",
      "    capabilities: [chat]",
      "    upstreams: [{ provider: simulatr }]",
      "prices:",
      "  default:",
      "    effective_at: 2026-01-01T00:00:00Z",
      "    entries:",
      '      - { model: a, billing_type: token, input_price: 0.1, output_price: "1", unit: 1K tokens }',
    ].join("\n"),
  );
  const { code, out } = await cli(["check", file]);
  assert.equal(code, 1);
  for (
    const [line, text] of [
      [1, 'service.nmae: unknown key. Did you mean "name"?'],
      [3, "providers.simulator.api_key: a secret is written into the file"],
      [
        7,
        'models[0].type: must be one of chat, image, video, avatar, drama, speech, embedding; got "chatt". Did you mean "chat"?',
      ],
      [
        9,
        'models[0].upstreams[0].provider: there is no provider "simulatr". Did you mean "simulator"?',
      ],
      [
        14,
        'prices.default.entries[0].input_price: must be a decimal amount in quotes, such as "0.15"; got 0.1',
      ],
    ] as const
  ) {
    assert.ok(out.includes(`${file}:${line}:`), `line ${line} in\n${out}`);
    assert.ok(out.includes(text), `${text} in\n${out}`);
  }
  assert.match(out, /7 \| {5}type: chatt\n {6}\| {11}\^\^\^\^\^\n/);
  assert.match(out, /5 errors, 0 warnings/);
  const json = await cli(["check", file, "--json"]);
  assert.equal(json.code, 1);
  assert.equal(JSON.parse(json.out).issues.length, 5);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("gateway routes lists the endpoints of a file; the help of a command says what it calls", async () => {
  const { code, out } = await cli(["routes", "gateway.yaml"]);
  assert.equal(code, 0, out);
  assert.match(out, /^POST +\/v1\/chat\/completions +chat +released +Create a chat completion$/m);
  assert.match(out, /^GET +\/admin\/v1\/accounts\/\{id\}\/statement +released +Download/m);
  const help = await cli(["account", "credit", "--help"]);
  assert.match(help.out, /^ {2}POST \/admin\/v1\/accounts\/\{id\}\/credits {2}Add credit/m);
});

Deno.test("gateway check accepts the shipped configuration, with and without every key", async () => {
  const plain = await cli(["check"]);
  assert.equal(plain.code, 0, plain.out + plain.err);
  assert.match(plain.out, /gpt-fast is unavailable/);
  const keys = Object.fromEntries(
    [...(await Deno.readTextFile(join(ROOT, "gateway.yaml"))).matchAll(/\$\{([A-Z_]+):-\}/g)].map((
      [, name],
    ) => [name!, "k"]),
  );
  const all = await cli(["check", "--json"], keys);
  assert.equal(all.code, 0, all.out);
  // Signing in elsewhere needs to know where people come back to, which only the operator knows.
  assert.deepEqual(
    JSON.parse(all.out).issues.map(({ path, severity }: { path: string; severity: string }) =>
      `${severity} ${path}`
    ),
    ["warning site.sign_in"],
  );
});

Deno.test("gateway plan shows the difference to another file and to the running gateway", async () => {
  await using gateway = await openGateway();
  const env = { GATEWAY_URL: gateway.address, ADMIN_TOKEN };
  const same = await cli(["plan", gateway.configFile], env);
  assert.equal(same.code, 0, same.err);
  assert.match(same.out, /No changes/);
  const next = `${gateway.configFile}.next.yaml`;
  const text = await Deno.readTextFile(gateway.configFile);
  await Deno.writeTextFile(
    next,
    text.replace('price: "0.04"', 'price: "0.05"').replace(
      "requests_per_minute: 3",
      "requests_per_minute: 6",
    ),
  );
  for (const against of [[], ["--against", gateway.configFile]]) {
    const { code, out } = await cli(["plan", next, ...against], env);
    assert.equal(code, 2, "there are changes");
    assert.ok(
      out.includes(
        '~ prices.default.tiny-image.price: "0.04" → "0.05"  (+25.0 %, +0.01 per image)',
      ),
      out,
    );
    assert.ok(out.includes("~ plans.slow.limits.requests_per_minute: 3 → 6"), out);
  }
});

Deno.test("gateway account, key and reload work for people and for scripts", async () => {
  await using gateway = await openGateway();
  const env = { GATEWAY_URL: gateway.address, ADMIN_TOKEN };
  const created = await cli(["account", "create", "Ann", "--plan", "pro", "--json"], env);
  assert.equal(created.code, 0, created.err);
  const { id } = JSON.parse(created.out);
  const made = JSON.parse(
    (await cli(["key", "create", id, "--name", "laptop", "--json"], env)).out,
  );
  assert.equal(
    await statusOf(gateway.get("/v1/models", { authorization: `Bearer ${made.key}` })),
    200,
  );
  assert.match((await cli(["account", "list"], env)).out, new RegExp(`${id} +Ann +pro`));
  assert.match(
    (await cli(["account", "show", id], env)).out,
    new RegExp(`${made.id} +laptop +…${made.last4} +active`),
  );
  const revoked = await cli(["key", "revoke", made.id], env);
  assert.equal(revoked.code, 0);
  assert.equal(
    await statusOf(gateway.get("/v1/models", { authorization: `Bearer ${made.key}` })),
    401,
  );
  assert.match((await cli(["reload"], env)).out, /No changes\./);

  const refused = await cli(["account", "create", "x", "--plan", "gold"], env);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /Unknown plan "gold"\. Configured plans: free, slow, pro\. \(req_/);
  assert.equal((await cli(["account", "create"], env)).code, 2);
  assert.equal((await cli(["accuont", "create"], env)).code, 2);
  const unreachable = await cli(["account", "list"], { ...env, GATEWAY_URL: "http://127.0.0.1:1" });
  assert.equal(unreachable.code, 1);
  assert.match(unreachable.err, /Cannot reach the gateway at http:\/\/127\.0\.0\.1:1/);
});

Deno.test("gateway person password verifies the address and lists what it removed; operators need that", async () => {
  await using gateway = await openGateway();
  const env = { GATEWAY_URL: gateway.address, ADMIN_TOKEN };
  await new Visitor(gateway.address).register("ann@example.com");
  const [{ account }] = await gateway.gateway.database.sql<[{ account: string }]>`
    select account_id as account from person`;
  const made = JSON.parse(
    (await cli(["key", "create", account, "--name", "laptop", "--json"], env)).out,
  );
  const early = await cli(["person", "operator", "ann@example.com"], env);
  assert.equal(early.code, 1);
  assert.match(early.err, /not verified[^]*gateway person password/);
  const first = await cli(["person", "password", "ann@example.com"], env);
  assert.equal(first.code, 0, first.err);
  assert.match(first.out, /Give the password only to the owner of this email address/);
  assert.match(first.out, new RegExp(`Removed[^]*API key: ${made.id} \\(laptop\\)`));
  const second = await cli(["person", "password", "ann@example.com"], env);
  assert.doesNotMatch(second.out, /Removed/);
  assert.equal((await cli(["person", "operator", "ann@example.com"], env)).code, 0);
});

Deno.test("gateway without a command lists the commands", async () => {
  const { code, out } = await cli([]);
  assert.equal(code, 0);
  for (const command of ["check", "plan", "migrate", "account create", "key revoke", "reload"]) {
    assert.ok(out.includes(command), command);
  }
});
