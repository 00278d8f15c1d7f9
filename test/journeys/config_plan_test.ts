import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { ADMIN_TOKEN, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { runCliHere } from "../helpers/run_cli.ts";

interface Change {
  path: string;
  from?: unknown;
  to?: unknown;
  per_unit?: string;
}

async function plan(gateway: TestGateway, body: unknown) {
  const response = await gateway.admin("POST", "/config/plan", body);
  assert.equal(response.status, 200, await response.clone().text());
  return await response.json() as {
    ok: boolean;
    from: string;
    to: string | null;
    changes: Change[];
    issues: { severity: string; message: string }[];
  };
}

/** Saves the file and waits until the gateway has noticed by itself. */
async function save(gateway: TestGateway, text: string): Promise<void> {
  const { configStore } = gateway.gateway;
  const { version } = configStore.current;
  await Deno.writeTextFile(gateway.configFile, text);
  await until("the file is in force", () => configStore.current.version !== version);
  const { sql } = gateway.gateway.database;
  await until("it is in the history", async () => {
    const [row] = await sql`select version from config_history order by number desc limit 1`;
    return row?.version === configStore.current.version;
  });
}

const cli = async (gateway: TestGateway, ...args: string[]) => {
  const { code, text: out } = await runCliHere(args, {
    GATEWAY_URL: gateway.address,
    ADMIN_TOKEN,
  });
  return { code, out };
};

Deno.test("a plan is compiled with the gateway's environment, and shows no value of a variable", async () => {
  await using gateway = await openGateway({
    environment: { CANARY_KEY: "canary-secret-key", SERVICE: "a-secret-in-the-name" },
  });
  const text = await Deno.readTextFile(gateway.configFile);
  const same = await plan(gateway, { source: text });
  assert.deepEqual([same.ok, same.changes], [true, []]);
  assert.equal(same.from, same.to);

  const named = text.replace(
    /^service:[^\n]*name: [^,}\n]+/m,
    (line) => line.replace(/name: [^,}\n]+/, 'name: "${SERVICE}"'),
  );
  const source = named === text ? text.replace(/^( *)name: .*$/m, '$1name: "${SERVICE}"') : named;
  const hidden = await plan(gateway, { source });
  assert.ok(hidden.changes.length > 0);
  assert.ok(!JSON.stringify(hidden).includes("a-secret-in-the-name"));

  const broken = await plan(gateway, {
    source: text.replace("adapter: simulator", "adapter: smulator"),
  });
  assert.deepEqual([broken.ok, broken.to, broken.changes], [false, null, []]);
  assert.match(broken.issues[0]!.message, /smulator/);
  assert.equal(gateway.gateway.configStore.lastReload.cause, "start", "nothing was loaded");
});

Deno.test("after a save the plan against the previous configuration shows it, with the change per unit, and rollback takes it back", async () => {
  await using gateway = await openGateway();
  const text = await Deno.readTextFile(gateway.configFile);
  const { version } = gateway.gateway.configStore.current;
  const none = await gateway.admin("GET", "/config/previous");
  assert.equal(none.status, 404, await none.text());
  await save(gateway, text.replace('price: "0.04"', 'price: "0.05"'));

  const { from, changes } = await plan(gateway, { against: "previous" });
  assert.equal(from, version);
  assert.deepEqual(
    changes.map(({ path, from, to, per_unit }) => ({ path, from, to, per_unit })),
    ["default", "pro"].map((book) => ({
      path: `prices.${book}.tiny-image.price`,
      from: "0.04",
      to: "0.05",
      per_unit: "+0.01 per image",
    })),
  );
  const now = await cli(gateway, "plan", gateway.configFile);
  assert.deepEqual([now.code, /No changes/.test(now.out)], [0, true], now.out);
  const before = await cli(gateway, "plan", gateway.configFile, "--against", "previous");
  assert.equal(before.code, 2, before.out);
  assert.match(before.out, /\+25\.0 %, \+0\.01 per image/);

  const printed = await cli(gateway, "rollback", gateway.configFile, "--print");
  assert.equal(printed.out.trim(), text.trim());
  const rolled = await cli(gateway, "rollback", gateway.configFile);
  assert.equal(rolled.code, 0, rolled.out);
  assert.equal(await Deno.readTextFile(gateway.configFile), text);
  assert.match(await Deno.readTextFile(`${gateway.configFile}.replaced`), /price: "0\.05"/);
  await until(
    "the previous one is in force",
    () => gateway.gateway.configStore.current.version === version,
  );
});
