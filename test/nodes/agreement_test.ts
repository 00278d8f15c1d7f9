import assert from "node:assert/strict";
import { join } from "node:path";
import { sleep } from "../../src/lib/timers.ts";
import { until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { startProcess } from "../helpers/gateway_process.ts";
import { nodeConfig } from "../helpers/node_config.ts";
import { statusOf } from "../helpers/status_of.ts";

const SHARED = { queue: "postgres", sessions: "postgres" };

interface Readiness {
  status: string;
  checks: { nodes?: { ok: boolean; reason: string } };
}

async function readinessOf(address: string): Promise<Readiness> {
  return await (await fetch(`${address}/readyz`)).json();
}

Deno.test({
  name:
    "a node with other secrets or a folder of its own is not ready until it agrees with the one before it",
  ignore: Deno.env.get("TEST_DATABASE_URL") === undefined,
  async fn() {
    await using store = await freshDatabase();
    const folder = await Deno.makeTempDir();
    try {
      const config = join(folder, "gateway.yaml");
      await Deno.writeTextFile(config, nodeConfig(`storage: ${JSON.stringify(SHARED)}`));
      const start = (name: string, adminToken: string) =>
        startProcess({
          DATABASE_URL: store.databaseUrl!,
          DATA_DIR: join(folder, name),
          GATEWAY_CONFIG: config,
          ADMIN_TOKEN: adminToken,
        });
      const first = start("first", "a-token-of-the-first-node");
      {
        await using _first = first;
        await first.says(/listens on/);
        assert.equal((await readinessOf(first.address)).status, "ready");
        await using second = start("second", "a-token-of-the-second-node");
        await second.says(/node differs from the others, not ready/);
        const { status, checks } = await readinessOf(second.address);
        assert.equal(status, "not ready");
        assert.match(checks.nodes!.reason, /second\/files is not the folder with the files/);
        assert.match(checks.nodes!.reason, /ADMIN_TOKEN: another node has another one/);
        assert.equal(await statusOf(fetch(`${second.address}/v1/models`)), 503);
        assert.equal((await readinessOf(first.address)).status, "ready", "the first one goes on");
        assert.ok(!second.stderr().includes("a-token-of"));

        // As an operator does it: the folder of the first node is mounted, and the first node is stopped.
        await Deno.mkdir(join(folder, "second", "files"), { recursive: true });
        await Deno.copyFile(
          join(folder, "first", "files", "store-id"),
          join(folder, "second", "files", "store-id"),
        );
        const differing = () =>
          second.stderr().split("\n").filter((line) =>
            line.includes("node differs from the others")
          );
        await until("what remains is logged", () => Promise.resolve(differing().length > 1), 30);
        assert.match(differing()[0]!, /is not the folder with the files.*ADMIN_TOKEN/);
        assert.doesNotMatch(differing()[1]!, /is not the folder with the files/);
        await sleep(3_000);
        assert.equal(differing().length, 2, "while nothing changes, nothing is logged");
        first.signal("SIGTERM");
        await first.ended;
        await until(
          "the second node is ready",
          async () => (await readinessOf(second.address)).status === "ready",
          30,
        );
        second.signal("SIGTERM");
        assert.equal((await second.ended).code, 0);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
