import { strayOutputs } from "./audit_files.ts";
import { readOutputs } from "./records.ts";
import type { World } from "./world.ts";

const IDLE_MS_MAX = 300_000;
/** Sweepers of files come once a minute. */
const SWEEP_MS_MAX = 200_000;
const LOOK_MS = 1_000;
const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

/** What is still under way; empty when the gateway is at rest. */
async function openWork({ clientRecords, call }: World): Promise<string[]> {
  const open: string[] = [];
  for (const { index, key } of clientRecords.accounts) {
    const { json: balance } = await call("/v1/balance", key);
    if (Number(balance.frozen_balance) !== 0) {
      open.push(`account ${index}: ${balance.frozen_balance} frozen`);
    }
    const lists = ["/v1/tasks?status=queued", "/v1/tasks?status=running"];
    for (const path of [...lists, "/v1/webhook_deliveries?status=pending"]) {
      const { json } = await call(`${path}${"&limit=100"}`, key);
      if (json.data.length > 0) open.push(`account ${index}: ${json.data.length} of ${path}`);
    }
  }
  return open;
}

/** Waits until nothing is open, for a bounded time; the result is what then still was. */
export async function waitUntilIdle(world: World): Promise<{ open: string[]; seconds: number }> {
  const startedAt = performance.now();
  let looks = 0;
  while (true) {
    const open = await openWork(world);
    const elapsedMs = performance.now() - startedAt;
    if (open.length === 0 || elapsedMs > IDLE_MS_MAX) {
      await untilSwept(world);
      return { open, seconds: Math.round((performance.now() - startedAt) / 1000) };
    }
    if (looks++ % 30 === 29) console.log(`still open: ${open.join("; ")}`);
    await wait(LOOK_MS);
  }
}

/** What killed processes left behind may wait for a sweeper; what then still is there the audit finds. */
async function untilSwept(world: World): Promise<void> {
  if (world.options.tolerated.has("no_stray_output")) return;
  for (const until = Date.now() + SWEEP_MS_MAX; Date.now() < until; await wait(5 * LOOK_MS)) {
    const strays = await Promise.all(
      world.clientRecords.accounts.map(async ({ key }) =>
        strayOutputs(await readOutputs(world, key))
      ),
    );
    if (strays.flat().length === 0) return;
  }
}
