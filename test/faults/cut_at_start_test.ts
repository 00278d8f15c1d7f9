import assert from "node:assert/strict";
import { join } from "node:path";
import { startupBanner } from "../../src/app/banner.ts";
import type { Settings } from "../../src/app/environment.ts";
import { type Gateway, openGateway as open } from "../../src/app/open_gateway.ts";
import { openLog } from "../../src/platform/telemetry/log.ts";
import { cuttingProxy } from "../helpers/cutting_proxy.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { ADMIN_TOKEN } from "../helpers/open_gateway.ts";

const ON_SERVER = { ignore: Deno.env.get("TEST_STORE") === "embedded" };

/** Places in a first start where connections are cut, from its first statement to its last: migrations are most of it. */
const PLACES = 6;
/** Later starts at once, each on a database of its own: they mostly wait. */
const PARALLEL = 8;

const settings = (databaseUrl: string, dataDir: string): Settings => ({
  ...{ host: "127.0.0.1", port: 0, configFile: join(dataDir, "gateway.yaml") },
  ...{ dataDir, databaseUrl, databaseWaitSeconds: 20, adminToken: ADMIN_TOKEN, secretsKeys: [] },
  ...{ metricsToken: undefined, isDrill: false, tracing: null, onDeploy: false },
  ...{ logLevel: "error", logFormat: "json", workers: 1, watchdogSeconds: 0 },
});

async function start(databaseUrl: string, dataDir: string, queue: "kv" | "postgres") {
  const options = settings(databaseUrl, dataDir);
  const config = await Deno.readTextFile(
    new URL("../helpers/config.yaml", import.meta.url),
  );
  await Deno.writeTextFile(options.configFile, `${config}\nstorage: { queue: ${queue} }\n`);
  return await open({
    ...options,
    log: openLog({ level: "error", format: "json", write() {} }),
    environment: {},
  });
}

async function untilReady({ address }: Gateway, place: string): Promise<void> {
  for (let waited = 0;; waited += 50) {
    const ready = await fetch(`${address}/readyz`);
    const text = await ready.text();
    if (ready.status === 200) return;
    assert.ok(waited < 20_000, `${place}: ${text}`);
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

async function countNodes({ database: { sql } }: Gateway): Promise<number> {
  const [{ nodes }] = await sql<[{ nodes: number }]>`select count(*)::int as nodes from node`;
  return nodes;
}

const everyNth = (max: number, step: number, first: number): number[] =>
  Array.from({ length: Math.ceil((max + 1 - first) / step) }, (_, at) => first + at * step);

/**
 * Starts once, and once more for each of these places, where connections are cut. Returns the pieces of the last start
 * until the operator sees its banner, and how often connections were cut until then.
 */
async function startAfterFirst(
  places: number[],
  queue: "kv" | "postgres",
): Promise<{ pieces: number; cuts: number }> {
  await using fresh = await freshDatabase();
  const { databaseUrl, dataDir } = fresh;
  let pieces = 0;
  let cuts = 0;
  for (const place of [Infinity, ...places]) {
    await using proxy = await cuttingProxy(databaseUrl!);
    proxy.cutAt(place);
    await using gateway = await start(proxy.url, dataDir, queue);
    const banner = await startupBanner(gateway, settings(proxy.url, dataDir));
    assert.match(banner, /listens on/);
    pieces = proxy.sent;
    cuts += proxy.cuts;
    await untilReady(gateway, `at ${place}`);
    assert.equal(await countNodes(gateway), 1, "a repeated step leaves no second node behind");
  }
  return { pieces, cuts };
}

for (const queue of ["kv", "postgres"] as const) {
  Deno.test(
    `a first start whose connections are cut once goes on, wherever that is; queue in ${queue}`,
    ON_SERVER,
    async () => {
      const countPieces = async () => {
        await using fresh = await freshDatabase();
        await using proxy = await cuttingProxy(fresh.databaseUrl!);
        await using _gateway = await start(proxy.url, fresh.dataDir, queue);
        return proxy.sent;
      };
      const pieces = await countPieces();
      for (let at = 0; at < PLACES; at++) {
        await using fresh = await freshDatabase();
        await using proxy = await cuttingProxy(fresh.databaseUrl!);
        proxy.cutAt(1 + Math.floor(at * pieces / PLACES));
        await using gateway = await start(proxy.url, fresh.dataDir, queue);
        const place = `at ${at} of ${PLACES}`;
        assert.equal(proxy.cuts, 1, place);
        await untilReady(gateway, place);
        assert.equal(await countNodes(gateway), 1, "a repeated step leaves no second node behind");
      }
    },
  );

  Deno.test(
    `a later start whose connections are cut once goes on, at each of its statements; queue in ${queue}`,
    ON_SERVER,
    async () => {
      const { pieces } = await startAfterFirst([Infinity], queue);
      const groups = await Promise.all(
        Array.from(
          { length: PARALLEL },
          (_, at) => startAfterFirst(everyNth(pieces, PARALLEL, at + 1), queue),
        ),
      );
      const cuts = groups.reduce((sum, group) => sum + group.cuts, 0);
      // The order of what runs side by side differs: the last pieces may come after the banner.
      assert.ok(cuts > pieces * 0.8, `${cuts} of ${pieces}`);
    },
  );
}
