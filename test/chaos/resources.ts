import postgres from "postgres";
import { periodic, rethrow } from "../../src/lib/timers.ts";
import { median } from "../bench/load.ts";
import type { Findings } from "./findings.ts";
import type { World } from "./world.ts";

const SAMPLE_MS = 5_000;
const MIB = 1024 * 1024;
/** Allocators round up, and a garbage collector frees late. */
const MEMORY_FACTOR = 1.2;
const MEMORY_SPARE = 32 * MIB;
/** Connections come and go with the load. */
const DESCRIPTORS_SPARE = 30;
/** Tables of work under way: their rows go when it ends, and vacuum gives the room back. */
const PASSING_TABLES: readonly string[] = ["hold", "reserve"];
const PASSING_BYTES_MAX = 8 * MIB;

/** What a run uses at one moment. */
export interface Sample {
  /** Of all gateway processes together. */
  readonly memory: number;
  readonly descriptors: number;
  /** Bytes of each table with its indexes and partitions; empty for the embedded database. */
  readonly tables: Readonly<Record<string, number>>;
}

export interface ResourceSamples extends AsyncDisposable {
  readonly samples: readonly Sample[];
}

/** Looks at processes and tables every few seconds. */
export function sampleResources(world: World): ResourceSamples {
  const samples: Sample[] = [];
  const sql = world.postgres === null ? null : postgres(world.postgres.url, { max: 1 });
  const sampling = periodic(async () => {
    const used = await Promise.all(world.nodes.map(({ pid }) => usedBy(pid)));
    // A process that is about to be started again uses nothing: such a sample says nothing.
    if (used.includes(null)) return;
    samples.push({
      memory: used.reduce((sum, one) => sum + one!.memory, 0),
      descriptors: used.reduce((sum, one) => sum + one!.descriptors, 0),
      tables: sql === null ? {} : await tableBytes(sql).catch(() => ({})),
    });
  }, { intervalMs: SAMPLE_MS, onError: rethrow });
  return {
    samples,
    async [Symbol.asyncDispose]() {
      await sampling[Symbol.asyncDispose]();
      await sql?.end();
    },
  };
}

async function usedBy(pid: number | null): Promise<Omit<Sample, "tables"> | null> {
  if (pid === null) return null;
  try {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    const descriptors = await Array.fromAsync(Deno.readDir(`/proc/${pid}/fd`));
    return {
      memory: Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024,
      descriptors: descriptors.length,
    };
  } catch {
    return null;
  }
}

async function tableBytes(sql: postgres.Sql): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; bytes: string }[]>`
    select coalesce(pg_partition_root(oid), oid)::regclass::text as name, sum(pg_total_relation_size(oid)) as bytes
      from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
     group by 1`;
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** The middle of the second and of the last quarter of a run; null for a run too short to tell. */
export function halves(samples: readonly Sample[]): { early: Sample; late: Sample } | null {
  const quarter = Math.floor(samples.length / 4);
  if (quarter < 3) return null;
  return {
    early: middleOf(samples.slice(quarter, 2 * quarter)),
    late: middleOf(samples.slice(-quarter)),
  };
}

function middleOf(samples: readonly Sample[]): Sample {
  const of = (read: (one: Sample) => number) => median(samples.map(read));
  const names = Object.keys(samples.at(-1)!.tables);
  return {
    memory: of(({ memory }) => memory),
    descriptors: of(({ descriptors }) => descriptors),
    tables: Object.fromEntries(names.map((name) => [name, of(({ tables }) => tables[name] ?? 0)])),
  };
}

/** Memory, descriptors and tables of work under way must stay level; those of history may grow. */
export function auditResources(samples: readonly Sample[], findings: Findings): void {
  const found = halves(samples);
  if (found === null) return;
  const { early, late } = found;
  findings.expect(
    "level",
    late.memory <= early.memory * MEMORY_FACTOR + MEMORY_SPARE,
    () => `memory: ${mib(early.memory)} MiB, later ${mib(late.memory)}`,
  );
  findings.expect(
    "level",
    late.descriptors <= early.descriptors + DESCRIPTORS_SPARE,
    () => `descriptors: ${early.descriptors}, later ${late.descriptors}`,
  );
  for (const name of PASSING_TABLES) {
    const bytes = late.tables[name] ?? 0;
    findings.expect(
      "level",
      bytes <= PASSING_BYTES_MAX,
      () => `the table ${name} has ${mib(bytes)} MiB`,
    );
  }
}

/** The figures for people. */
export function describeResources(samples: readonly Sample[]): string[] {
  const found = halves(samples);
  if (found === null) return [];
  const { early, late } = found;
  const tables = Object.keys(late.tables)
    .filter((name) => late.tables[name]! > MIB / 8)
    .sort((a, b) => late.tables[b]! - late.tables[a]!)
    .map((name) => `${name} ${mib(early.tables[name] ?? 0)} → ${mib(late.tables[name]!)}`);
  return [
    `memory ${mib(early.memory)} → ${
      mib(late.memory)
    } MiB, descriptors ${early.descriptors} → ${late.descriptors} ` +
    "(second quarter → last)",
    ...(tables.length === 0 ? [] : [`tables (MiB): ${tables.join(", ")}`]),
  ];
}

const mib = (bytes: number) => (bytes / MIB).toFixed(1);
