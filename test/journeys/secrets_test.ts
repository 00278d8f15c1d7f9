import assert from "node:assert/strict";
import { join } from "node:path";
import { SettingsError } from "../../src/app/environment.ts";
import { until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

const [FIRST, SECOND] = ["first-secrets-key-", "second-secrets-key-"].map((name) =>
  name + "0".repeat(32)
) as [string, string];

async function newEndpoint(gateway: TestGateway): Promise<string> {
  const response = await gateway.fetch("/v1/webhook_endpoints", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ url: "https://hooks.example/in" }),
  });
  assert.equal(response.status, 201, await response.clone().text());
  return (await response.json()).id;
}

Deno.test("SECRETS_KEY is changed: list both, rotate, remove the earlier one; a wrong one does not start", async () => {
  await using store = await freshDatabase();
  const open = (...secretsKeys: string[]) => openGateway({ store, settings: { secretsKeys } });
  let endpoint: string;
  let key: string;
  {
    await using gateway = await open(FIRST);
    endpoint = await newEndpoint(gateway);
    key = gateway.key;
  }
  for (const wrong of [[SECOND], []]) {
    await assert.rejects(open(...wrong), (error) => {
      assert.ok(error instanceof SettingsError, String(error));
      assert.match(error.message, /SECRETS_KEY/);
      assert.ok(!error.message.includes(SECOND));
      return true;
    });
  }
  {
    await using gateway = await open(SECOND, FIRST);
    assert.match(gateway.logged(), /secrets sealed with an earlier key/);
    const rotated = await gateway.admin("POST", "/secrets/rotate");
    assert.deepEqual(await rotated.json(), {
      object: "secrets_rotation",
      resealed: 1,
      unreadable: 0,
    });
  }
  await using gateway = await open(SECOND);
  assert.ok(!gateway.logged().includes("earlier key"));
  const path = `/v1/webhook_endpoints/${endpoint}/secret`;
  const shown = await gateway.get(path, { authorization: `Bearer ${key}` });
  assert.match((await shown.json()).secret, /^whsec_/);
});

Deno.test("400 for a rotation without SECRETS_KEY", async () => {
  await using gateway = await openGateway();
  const response = await gateway.admin("POST", "/secrets/rotate");
  assert.equal(response.status, 400);
  assert.match((await response.json()).error.message, /SECRETS_KEY is not set/);
});

Deno.test("rotate_secret that cannot show the previous secret answers 500 and changes nothing", async () => {
  await using gateway = await openGateway({ settings: { secretsKeys: [FIRST] } });
  const endpoint = await newEndpoint(gateway);
  const { sql } = gateway.gateway.database;
  // As after a restore of secrets that another key has sealed.
  await sql`update webhook_secret set secret = 'sealed_v1:' || repeat('A', 80)`;
  const rows = () => sql`select id, secret, expires_at from webhook_secret`;
  const before = await rows();
  const response = await gateway.fetch(`/v1/webhook_endpoints/${endpoint}/rotate_secret`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: "{}",
  });
  assert.equal(await statusOf(response), 500);
  assert.deepEqual([...await rows()], [...before]);
});

Deno.test("METRICS_TOKEN reads /metrics and nothing else", async () => {
  const metricsToken = "a-token-for-prometheus";
  await using gateway = await openGateway({ settings: { metricsToken } });
  const headers = { authorization: `Bearer ${metricsToken}` };
  const metrics = await gateway.fetch("/metrics", { headers });
  assert.equal(metrics.status, 200);
  assert.match(await metrics.text(), /tollgate_info/);
  for (
    const path of ["/admin/v1/accounts", "/admin/v1/config", "/admin/v1/nothing", "/v1/models"]
  ) {
    assert.equal(await statusOf(gateway.fetch(path, { headers })), 401, path);
  }
  assert.equal(await statusOf(gateway.admin("GET", "/config")), 200);
  assert.equal(await statusOf(gateway.fetch("/metrics")), 401);
});

Deno.test("a provider's key comes from a file, is kept out of the log, and a new one counts without a restart", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = join(folder, "provider-key");
    await Deno.writeTextFile(file, "the-first-provider-key\n");
    const config = await Deno.readTextFile(new URL("../helpers/config.yaml", import.meta.url));
    assert.match(config, /^providers:\n/m);
    await using gateway = await openGateway({
      config: config.replace(
        /^providers:\n/m,
        `providers:\n  filed: { adapter: openai, api_key: "\${file:${file}}" }\n`,
      ),
    });
    const { configStore } = gateway.gateway;
    const keyOf = () => configStore.current.providers.get("filed")!.apiKey;
    assert.equal(keyOf(), "the-first-provider-key");
    await Deno.writeTextFile(file, "the-second-provider-key\n");
    await until("the new key is in force", () => keyOf() === "the-second-provider-key");

    await Deno.remove(file);
    const refused = await gateway.admin("POST", "/config/reload");
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /provider-key cannot be read/);
    assert.equal(keyOf(), "the-second-provider-key", "the previous one stays in force");
    assert.ok(!/the-(first|second)-provider-key/.test(gateway.logged()));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
