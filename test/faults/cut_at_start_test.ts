import assert from "node:assert/strict";
import { join } from "node:path";
import { openGateway as open } from "../../src/app/open_gateway.ts";
import { openLog } from "../../src/platform/telemetry/log.ts";
import { cuttingProxy } from "../helpers/cutting_proxy.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { ADMIN_TOKEN } from "../helpers/open_gateway.ts";

const ON_SERVER = { ignore: Deno.env.get("TEST_STORE") === "embedded" };

/** Places in a start where connections are cut, from its first statement to its last. */
const PLACES = 14;

async function start(databaseUrl: string, dataDir: string, queue: "kv" | "postgres") {
  const configFile = join(dataDir, "gateway.yaml");
  const config = await Deno.readTextFile(
    new URL("../helpers/config.yaml", import.meta.url),
  );
  await Deno.writeTextFile(configFile, `${config}\nstorage: { queue: ${queue} }\n`);
  return await open({
    ...{ host: "127.0.0.1", port: 0, configFile, dataDir, databaseUrl },
    ...{
      databaseWaitSeconds: 20,
      adminToken: ADMIN_TOKEN,
      secretsKeys: [],
      metricsToken: undefined,
      isDrill: false,
      tracing: null,
    },
    ...{ logLevel: "error", logFormat: "json", workers: 1, watchdogSeconds: 0, onDeploy: false },
    log: openLog({ level: "error", format: "json", write() {} }),
    environment: {},
  });
}

for (const queue of ["kv", "postgres"] as const) {
  Deno.test(
    `a start whose connections are cut once goes on, wherever that is; queue in ${queue}`,
    ON_SERVER,
    async () => {
      const countPieces = async () => {
        await using fresh = await freshDatabase();
        await using proxy = await cuttingProxy(fresh.databaseUrl!);
        await using _gateway = await start(proxy.url, fresh.dataDir, queue);
        return proxy.sent;
      };
      const pieces = await countPieces();
      for (let place = 0; place < PLACES; place++) {
        await using fresh = await freshDatabase();
        await using proxy = await cuttingProxy(fresh.databaseUrl!);
        proxy.cutAt(1 + Math.floor(place * pieces / PLACES));
        await using gateway = await start(proxy.url, fresh.dataDir, queue);
        assert.equal(proxy.cuts, 1, `at ${place} of ${PLACES}`);
        for (let waited = 0;; waited += 50) {
          const ready = await fetch(`${gateway.address}/readyz`);
          const text = await ready.text();
          if (ready.status === 200) break;
          assert.ok(waited < 20_000, `at ${place} of ${PLACES}: ${text}`);
          await new Promise((resume) => setTimeout(resume, 50));
        }
        const [{ nodes }] = await gateway.database.sql<[{ nodes: number }]>`
        select count(*)::int as nodes from node`;
        assert.equal(nodes, 1, "a repeated step leaves no second node behind");
      }
    },
  );
}
