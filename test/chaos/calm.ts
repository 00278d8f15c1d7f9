import type { World } from "./world.ts";

const CALM_MS_MAX = 300_000;
const LOOK_MS = 1_000;
const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

/** What is still under way; empty when the gateway is at rest. */
async function openWork({ books, call }: World): Promise<string[]> {
  const open: string[] = [];
  for (const { index, key } of books.accounts) {
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
export async function untilCalm(world: World): Promise<{ open: string[]; seconds: number }> {
  const startedAt = performance.now();
  while (true) {
    const open = await openWork(world);
    const elapsedMs = performance.now() - startedAt;
    if (open.length === 0 || elapsedMs > CALM_MS_MAX) {
      return { open, seconds: Math.round(elapsedMs / 1000) };
    }
    await wait(LOOK_MS);
  }
}
