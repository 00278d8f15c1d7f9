import { parseArgs } from "node:util";
import { type CheckName, CHECKS } from "./findings.ts";

/** What can go wrong during a run. Each kind is switched off by `--without kind,kind`. */
export const FAULT_KINDS = {
  kill: "SIGKILL of a gateway, then a new start",
  stop: "SIGTERM of a gateway, then a new start",
  pause: "SIGSTOP of a gateway for some seconds",
  long_pause: "SIGSTOP of a gateway beyond every lease (runs of 3 minutes and more)",
  cut: "all database connections cut at once",
  freeze: "the database neither answers nor closes for some seconds",
  delay: "every byte to and from the database comes late",
  postgres: "Postgres crashes and is started again",
  upstream_error: "upstreams answer 429, 500 or 503, and jobs fail",
  upstream_hang: "upstreams never answer, and jobs never end",
  upstream_cut: "upstreams break off in the middle of an answer",
  upstream_slow: "upstreams take long to accept and to answer",
  upstream_close: "connections to upstreams are cut after the request was sent",
  no_usage: "upstreams do not report usage",
  lost_reply: "upstreams accept a job and break off while confirming it",
  output: "results are damaged, missing or break off",
  receiver: "webhook receivers answer 500, redirect, or time out",
  leave: "clients leave in the middle of an answer",
} as const;

export type FaultKind = keyof typeof FAULT_KINDS;

/** `--only none`: load without any fault. */
const NO_FAULTS = "none";
const NEEDS_SERVER: readonly FaultKind[] = ["cut", "freeze", "delay", "postgres"];
const OF_NODES: readonly FaultKind[] = ["kill", "stop", "pause", "long_pause"];
/** A pause must outlive the longest lease, and the run must be long enough to see what follows. */
export const LONG_PAUSE_MS = 75_000;
const LONG_PAUSE_MINUTES_MIN = 3;

export interface ChaosOptions {
  minutes: number;
  database: "embedded" | "postgres";
  nodes: number;
  seed: number;
  clients: number;
  /** The longest pause of a client between two requests. */
  thinkMs: number;
  faults: ReadonlySet<FaultKind>;
  /** A commit whose tree the nodes run at first; they are replaced during the run. Null: they run the current one. */
  upgradeFrom: string | null;
  /** In an upgrade all nodes stop before the first new one starts. */
  isAtOnce: boolean;
  /** Checks whose violations are reported and do not fail the run. */
  tolerated: ReadonlySet<CheckName>;
}

/** Reads the command line; throws a sentence for whatever it does not understand. */
export function readOptions(args: string[]): ChaosOptions {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: "string", default: "10" },
      database: { type: "string", default: "postgres" },
      nodes: { type: "string" },
      seed: { type: "string", default: String(Date.now() % 2 ** 32) },
      clients: { type: "string", default: "10" },
      "think-ms": { type: "string", default: "200" },
      without: { type: "string", default: "" },
      only: { type: "string", default: "" },
      tolerate: { type: "string", default: "" },
      "upgrade-from": { type: "string" },
      "at-once": { type: "boolean", default: false },
    },
  });
  const { database } = values;
  if (database !== "embedded" && database !== "postgres") {
    throw new Error("--database is embedded or postgres.");
  }
  const minutes = positive(values.minutes, "--minutes");
  const nodes = positive(values.nodes ?? (database === "embedded" ? "1" : "3"), "--nodes");
  if (database === "embedded" && nodes !== 1) {
    throw new Error("The embedded database serves one process: leave --nodes out.");
  }
  const only = values.only === NO_FAULTS ? [] : kinds(values.only, "--only");
  const without = new Set(kinds(values.without, "--without"));
  const wanted = values.only === "" ? Object.keys(FAULT_KINDS) as FaultKind[] : only;
  const faults = new Set(wanted.filter((kind) =>
    !without.has(kind) &&
    (database === "postgres" || !NEEDS_SERVER.includes(kind)) &&
    (kind !== "long_pause" || minutes >= LONG_PAUSE_MINUTES_MIN)
  ));
  const upgradeFrom = values["upgrade-from"] ?? null;
  if (upgradeFrom !== null) checkUpgrade(nodes, faults);
  return {
    minutes,
    database,
    nodes,
    seed: positive(values.seed, "--seed", 0),
    clients: positive(values.clients, "--clients"),
    thinkMs: positive(values["think-ms"], "--think-ms", 0),
    faults,
    upgradeFrom,
    isAtOnce: values["at-once"],
    tolerated: new Set(checks(values.tolerate)),
  };
}

/** What happens to nodes during an upgrade is the upgrade alone, and one of them always serves. */
function checkUpgrade(nodes: number, faults: ReadonlySet<FaultKind>): void {
  if (nodes < 2) throw new Error("--upgrade-from needs --nodes 2 or more.");
  const others = OF_NODES.filter((kind) => faults.has(kind));
  if (others.length > 0) {
    throw new Error(`--upgrade-from stops nodes itself: add --without ${others.join(",")}`);
  }
}

function checks(text: string): CheckName[] {
  const words = listed(text);
  const unknown = words.find((word) => !Object.hasOwn(CHECKS, word));
  if (unknown === undefined) return words as CheckName[];
  throw new Error(
    `--tolerate: there is no check ${unknown}. Checks: ${Object.keys(CHECKS).join(", ")}`,
  );
}

const listed = (text: string) => text.split(",").map((word) => word.trim()).filter(Boolean);

function kinds(text: string, option: string): FaultKind[] {
  const words = listed(text);
  const unknown = words.find((word) => !Object.hasOwn(FAULT_KINDS, word));
  if (unknown === undefined) return words as FaultKind[];
  const all = Object.entries(FAULT_KINDS).map(([kind, text]) => `  ${kind}: ${text}`);
  throw new Error(`${option}: there is no fault ${unknown}. Faults:\n${all.join("\n")}`);
}

function positive(text: string, option: string, least = Number.MIN_VALUE): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= least) return value;
  throw new Error(`${option} must be a positive number.`);
}
