import type { GatewayNode } from "./gateway_node.ts";
import type { World } from "./world.ts";

const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));
/** Load balancers know that a node leaves before it refuses connections. */
const NOTICE_MS = 1_000;

/**
 * Replaces the nodes by the current tree during the run, as docs/operate/upgrade.md says: one after the other, or all at
 * once where migrations in between do more than add.
 */
export async function replaceNodes(
  { nodes, options }: Pick<World, "nodes" | "options">,
): Promise<void> {
  const runMs = options.minutes * 60_000;
  if (options.isAtOnce) {
    await wait(runMs / 3);
    await Promise.all(nodes.map(stop));
    await Promise.all(nodes.map(startCurrent));
    return;
  }
  for (const node of nodes) {
    await wait(runMs / (nodes.length + 1) / 2);
    await stop(node);
    await startCurrent(node);
  }
}

async function stop(node: GatewayNode): Promise<void> {
  const code = await node.stop(NOTICE_MS);
  if (code !== 0) node.exits.push(`exit ${code} when it was replaced`);
}

async function startCurrent(node: GatewayNode): Promise<void> {
  node.root = undefined;
  await node.start();
  console.log(`${node.name} runs the current tree`);
}
