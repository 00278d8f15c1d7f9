import type { FaultKind } from "./options.ts";
import type { ScheduledFault } from "./schedule.ts";
import type { World } from "./world.ts";

const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

/** On a slow machine a start takes long: a node that is killed at once again would never serve. */
const IN_SERVICE_MS = 6_000;
const LONG_PAUSE_WAIT_MS = 60_000;

/** What was done, for the report. */
export interface FaultCounts {
  readonly done: Map<FaultKind, number>;
  /** Connections that were cut, by kind. */
  readonly connections: { database: number; upstream: number };
  skipped: number;
}

/** Carries out the timeline until `over`; the result comes when every fault has ended. */
export async function runFaults(
  world: World,
  timeline: readonly ScheduledFault[],
  over: AbortSignal,
): Promise<FaultCounts> {
  const counts: FaultCounts = {
    done: new Map(),
    connections: { database: 0, upstream: 0 },
    skipped: 0,
  };
  const startedAt = performance.now();
  const running: Promise<void>[] = [];
  let isDatabaseBusy = false;

  /** Two troubles of one database at once would only hide each other. */
  async function onDatabase(work: () => Promise<void>): Promise<boolean> {
    if (isDatabaseBusy) return false;
    isDatabaseBusy = true;
    try {
      await work();
    } finally {
      isDatabaseBusy = false;
    }
    return true;
  }

  async function onNode({ node, kind, durationMs }: ScheduledFault): Promise<boolean> {
    const { nodes } = world;
    // The planned one, or the next that is up; among several nodes one always stays in service.
    const up = [...nodes.slice(node), ...nodes.slice(0, node)].filter(({ state }) =>
      state === "up"
    );
    const target = up.find(({ upSince }) => performance.now() - upSince > IN_SERVICE_MS);
    if (target === undefined || nodes.length > 1 && up.length === 1) return false;
    if (kind === "kill") await target.kill(durationMs);
    else if (kind === "stop") {
      await target.stop();
      await wait(durationMs);
      await target.start();
    } else await target.pause(durationMs, over);
    return true;
  }

  async function cause(fault: ScheduledFault): Promise<boolean> {
    const { kind, durationMs } = fault;
    const { databaseProxy, upstreamProxy, postgres } = world;
    switch (kind) {
      case "cut":
        counts.connections.database += databaseProxy!.cut();
        return true;
      case "upstream_close":
        counts.connections.upstream += upstreamProxy.cut();
        return true;
      case "freeze":
        return await onDatabase(async () => {
          databaseProxy!.freeze();
          await wait(durationMs);
          databaseProxy!.thaw();
        });
      case "delay":
        return await onDatabase(async () => {
          databaseProxy!.delayMs = 150;
          await wait(durationMs);
          databaseProxy!.delayMs = 0;
        });
      case "postgres":
        return await onDatabase(async () => {
          await postgres!.kill();
          await wait(durationMs);
          await postgres!.restart();
        });
      case "long_pause": {
        // There are few of these: it waits for its turn instead of being skipped.
        const until = Date.now() + LONG_PAUSE_WAIT_MS;
        while (!await onNode(fault)) {
          if (over.aborted || Date.now() > until) return false;
          await wait(500);
        }
        return true;
      }
      default:
        return await onNode(fault);
    }
  }

  for (const fault of timeline) {
    const dueMs = startedAt + fault.atMs - performance.now();
    if (dueMs > 0) await wait(dueMs);
    if (over.aborted) break;
    running.push(
      cause(fault).then((isDone) => {
        if (isDone) counts.done.set(fault.kind, (counts.done.get(fault.kind) ?? 0) + 1);
        else counts.skipped++;
      }),
    );
  }
  await Promise.all(running);
  return counts;
}
