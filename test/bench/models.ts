import { join } from "node:path";
import { generator, printTable, requestsPerSecond, takeTurns } from "./load.ts";
import { configOf, makeAccount, openGround, startBare, startGateway } from "./servers.ts";

const GOAL = 0.5;

/** `GET /v1/models/{id}` with authentication, rate limit, metrics and log, beside a bare Hono app. */
export async function run(): Promise<void> {
  await using ground = await openGround();
  const config = join(ground.folder, "gateway.yaml");
  await Deno.writeTextFile(config, configOf(10));
  await using gateway = await startGateway(config, ground.databaseUrl, ground.dataDir);
  const headers = { authorization: `Bearer ${(await makeAccount(gateway)).key}` };
  const path = "/v1/models/model-3";
  const body = await (await fetch(gateway.address + path, { headers })).text();
  await using bare = await startBare(body);

  const load = { connections: 64, seconds: 3, headers };
  const measured = await takeTurns(5, {
    bare: () => requestsPerSecond({ ...load, url: bare.address + path }),
    gateway: () => requestsPerSecond({ ...load, url: gateway.address + path }),
  });
  const ratio = measured.gateway! / measured.bare!;
  console.log(
    `GET ${path}, ${load.connections} connections, load by ${await generator()}, median of 5 turns\n`,
  );
  printTable([
    ["", "requests/s"],
    ["bare Hono, one route, same bytes", measured.bare!.toFixed(0)],
    ["gateway: key, rate limit, metrics, log", measured.gateway!.toFixed(0)],
    ["ratio", `${ratio.toFixed(2)} (goal ${GOAL})`],
  ]);
  if (ratio < GOAL) Deno.exitCode = 1;
}

if (import.meta.main) await run();
