import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { openGateway, type TestGateway } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

const CONFIG = new URL("../helpers/config.yaml", import.meta.url);

async function notice(node: TestGateway): Promise<string | undefined> {
  const ready = await node.fetch("/readyz");
  const { checks } = await ready.json();
  assert.equal(ready.status, 200, "a node with an older configuration stays ready");
  return checks.config.notice;
}

Deno.test(
  "a node with an older configuration than its peers reports it, until it has the new one",
  STRICT,
  async () => {
    const older = await Deno.readTextFile(CONFIG);
    const changed = older.replace(/requests_per_minute: (\d+)/, "requests_per_minute: 1$1");
    await using first = await openGateway({ config: older });
    await using second = await openGateway({ config: changed, beside: first });
    await until("the first node notices", async () => await notice(first) !== undefined, 20);
    assert.match(first.logged(), /this node runs an older configuration than its peers/);
    assert.equal(await notice(second), undefined);
    const { nodes } = await (await first.admin("GET", "/config")).json();
    assert.deepEqual(
      nodes.map(({ is_this, is_newer }: Record<string, boolean>) => [is_this, is_newer]),
      [[true, false], [false, true]],
    );

    // Started later with the old file: what counts is the file, not who started when.
    await using third = await openGateway({ config: older, beside: first });
    await until("a late node notices", async () => await notice(third) !== undefined, 20);
    for (const node of [first, third]) {
      await Deno.writeTextFile(node.configFile, changed);
      const reloaded = await node.admin("POST", "/config/reload");
      assert.equal(reloaded.status, 200, await reloaded.text());
      await until("it has caught up", async () => await notice(node) === undefined, 20);
    }
  },
);
