import type { Entry } from "./client_records.ts";
import type { FaultCounts } from "./faults.ts";
import { type CheckName, CHECKS, type Findings } from "./findings.ts";
import type { ChaosOptions } from "./options.ts";
import { describeResources, type Sample } from "./resources.ts";
import type { World } from "./world.ts";

const EXAMPLES_MAX = 8;

export function announce(options: ChaosOptions): string {
  const { seed, minutes, database, nodes, clients, faults } = options;
  return `seed ${seed}: ${minutes} minutes, ${database}, ${nodes} node(s), ${clients} clients\n` +
    `faults: ${[...faults].join(" ") || "none"}`;
}

/** The figures of a run and every broken promise, for people. */
export function report(
  world: World,
  counts: FaultCounts,
  findings: Findings,
  { idleSeconds, samples }: { idleSeconds: number; samples: readonly Sample[] },
): string {
  const { clientRecords, receivers, nodes, options } = world;
  const entries = [...clientRecords.entries.values()];
  const lines = [
    "",
    `requests: ${entries.length} ${tally(entries, ({ kind }) => kind)}, ` +
    `${clientRecords.cancels} cancels, ${clientRecords.reads} reads, ${clientRecords.endpoints} endpoints made and deleted`,
    `statuses: ${
      tally(entries, ({ status, code }) => `${status ?? "none"}${code ? ` ${code}` : ""}`)
    }`,
    `ends: ${tally(entries, ({ end }) => end)}`,
    `faults: ${
      [...counts.done].map(([kind, count]) => `${kind} ${count}`).join(", ") || "none"
    }; ` +
    `connections cut: ${counts.connections.database} database, ${counts.connections.upstream} upstream`,
    `upstreams told to misbehave: ${
      entries.filter(({ directive }) => directive !== "").length
    } times`,
    `starts: ${sum(nodes.map((node) => node.starts))}, that failed: ${
      sum(nodes.map((node) => node.failedStarts.length))
    }, ` +
    `exits: ${sum(nodes.map((node) => node.exits.length))}`,
    `webhooks: ${receivers.events.size} events in ${receivers.requests} requests`,
    `idle after ${idleSeconds} s`,
    ...describeResources(samples),
    `checks: ${findings.total}, violations: ${findings.violations.length}`,
  ];
  const broken = Map.groupBy(findings.violations, ({ check }) => check);
  for (const [check, list] of broken) lines.push(...section(check, list, findings, options));
  const fatal = findings.violations.filter(({ check }) => !options.tolerated.has(check));
  lines.push("", fatal.length === 0 ? "All promises kept." : `FAILED. Repeat: ${repeat(options)}`);
  return lines.join("\n");
}

function section(
  check: CheckName,
  list: readonly { text: string }[],
  findings: Findings,
  { tolerated }: ChaosOptions,
): string[] {
  const note = tolerated.has(check) ? " (tolerated)" : "";
  const shown = list.slice(0, EXAMPLES_MAX).map(({ text }) => `    ${text}`);
  const rest = list.length - shown.length;
  return [
    "",
    `  ${check}${note}: ${list.length} of ${findings.checked.get(check)} broken: ${CHECKS[check]}`,
    ...shown,
    ...(rest > 0 ? [`    and ${rest} more`] : []),
  ];
}

/** The command that makes the same schedule again. */
function repeat(
  { seed, minutes, database, nodes, clients, thinkMs, faults, upgradeFrom, isAtOnce }: ChaosOptions,
): string {
  return `deno task chaos --seed ${seed} --minutes ${minutes} --database ${database} ` +
    `--nodes ${nodes} --clients ${clients} --think-ms ${thinkMs} --only ${
      [...faults].join(",") || "none"
    }${upgradeFrom === null ? "" : ` --upgrade-from ${upgradeFrom}`}${
      isAtOnce ? " --at-once" : ""
    }`;
}

function tally(entries: readonly Entry[], name: (entry: Entry) => string): string {
  const groups = [...Map.groupBy(entries, name)].sort(([, a], [, b]) => b.length - a.length);
  return `(${groups.map(([name, list]) => `${name} ${list.length}`).join(", ")})`;
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
