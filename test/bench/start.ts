import { join } from "node:path";
import { median, printTable } from "./load.ts";
import { openGround, startBare, startGateway } from "./servers.ts";

const ROUNDS = 7;

/** From the start of the process to a good `/readyz`, with the shipped file, beside a bare Hono app. */
export async function run(): Promise<void> {
  await using ground = await openGround();
  const times = { bare: [] as number[], gateway: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    await using bare = await startBare("{}");
    await using gateway = await startGateway(
      "gateway.yaml",
      ground.databaseUrl,
      join(ground.folder, "data"),
    );
    // The first round fills caches and migrates the database.
    if (round === 0) continue;
    times.bare.push(bare.startMs);
    times.gateway.push(gateway.startMs);
  }
  const [bare, gateway] = [median(times.bare), median(times.gateway)];
  console.log(`start to first good answer, median of ${ROUNDS}\n`);
  printTable([
    ["", "ms", "ratio"],
    ["bare Hono hello world", bare.toFixed(0), "1.0"],
    ["gateway on Postgres, shipped gateway.yaml", gateway.toFixed(0), (gateway / bare).toFixed(1)],
  ]);
}

if (import.meta.main) await run();
