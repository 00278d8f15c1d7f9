import { audit } from "./audit.ts";
import { waitUntilIdle } from "./wait_idle.ts";
import { runFaults } from "./faults.ts";
import { LoadClient } from "./load.ts";
import type { ChaosOptions } from "./options.ts";
import { auditResources, sampleResources } from "./resources.ts";
import { announce, report } from "./report.ts";
import { replaceNodes } from "./replace_nodes.ts";
import { planFaults } from "./schedule.ts";
import { openWorld } from "./world.ts";

/** Answers that are under way when the load ends may take this long: a stream behind a paused node. */
const LAST_ANSWERS_MS = 100_000;
/** For start, idling and audit, on the slowest machine. */
const SPARE_MS = 20 * 60_000;

/** A whole run; true when every promise was kept. */
export async function runChaos(options: ChaosOptions): Promise<boolean> {
  console.log(announce(options));
  await using world = await openWorld(options);
  endEarly(world, options.minutes);
  const [over, giveUp] = [new AbortController(), new AbortController()];
  world.receivers.misbehaves = options.faults.has("receiver");
  await using resources = sampleResources(world);
  const clients = Array.from(
    { length: options.clients },
    (_, number) => new LoadClient(world, number, over.signal, giveUp.signal),
  );
  const load = Promise.all(clients.map((client) => client.run()));
  const faults = runFaults(world, planFaults(options), over.signal);
  const upgrade = options.upgradeFrom === null ? null : replaceNodes(world);
  await new Promise((resume) => setTimeout(resume, options.minutes * 60_000));
  await upgrade;
  over.abort();
  await resources[Symbol.asyncDispose]();
  const counts = await faults;
  world.receivers.misbehaves = false;
  const timer = setTimeout(() => giveUp.abort(), LAST_ANSWERS_MS);
  await load;
  clearTimeout(timer);
  console.log("load and faults are over, waiting until nothing is open");
  await world.finishCredits();
  const { open, seconds } = await waitUntilIdle(world);
  console.log("auditing");
  const findings = await audit(world, open);
  const { samples } = resources;
  // A process that was started again begins with little memory.
  if (options.faults.size === 0 && options.upgradeFrom === null) auditResources(samples, findings);
  console.log(report(world, counts, findings, { idleSeconds: seconds, samples }));
  const isKept = findings.violations.every(({ check }) => options.tolerated.has(check));
  if (!isKept) await keepLogs(world.nodes);
  return isKept;
}

/** Asked to end, or stuck, it leaves no process behind. */
function endEarly(world: AsyncDisposable, minutes: number): void {
  const end = async (code: number) => {
    await world[Symbol.asyncDispose]();
    Deno.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => void end(130));
  }
  const timer = setTimeout(() => {
    console.error("The run did not come to its end: given up.");
    void end(3);
  }, minutes * 60_000 + SPARE_MS);
  Deno.unrefTimer(timer);
}

/** What the gateways said, to find the cause in. */
async function keepLogs(nodes: readonly { name: string; logs: string[] }[]): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "tollgate-chaos-logs-" });
  for (const { name, logs } of nodes) {
    await Deno.writeTextFile(`${folder}/${name.replace(" ", "-")}.log`, logs.join("\n"));
  }
  console.log(`Logs of the gateways: ${folder}`);
}
