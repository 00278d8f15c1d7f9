import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import {
  AUDIT_TABLE,
  PARTITIONED_TABLES,
  RECEIPT_TABLE,
  REQUEST_TABLES,
  RESPONSE_TABLE,
  TRANSFER_TABLE,
} from "../../platform/database/partitioned_tables.ts";
import {
  listPartitions,
  type Partition,
  type PartitionedTable,
} from "../../platform/database/partitions.ts";
import type { RetentionDeps } from "./sweep_storage.ts";
import { addMonths } from "./due_months.ts";

/** A table of the database, as operators see it. */
export interface StoredTable {
  name: string;
  /** As Postgres estimates them; null where it has no estimate yet. */
  rows: number | null;
  /** With indexes. */
  bytes: number;
  partitions: StoredPartition[];
}

export interface StoredPartition {
  name: string;
  from: string;
  to: string;
  rows: number | null;
  bytes: number;
  /** What becomes of it; null: it stays for ever. */
  next: "archive" | "drop" | null;
  /** From when on. */
  due_at: string | null;
}

export interface StoredArchive {
  /** Such as 2026-01. */
  month: string;
  archived_at: string;
  files: {
    table: string;
    store: string;
    key: string;
    rows: number;
    bytes: number;
    sha256: string;
  }[];
}

export interface StorageOverview {
  object: "storage";
  tables: StoredTable[];
  archives: StoredArchive[];
}

/** What the database holds, table by table and month by month, and what is removed when. Largest tables first. */
export async function describeStorage(
  { sql, config }: Pick<RetentionDeps, "sql" | "config">,
): Promise<StorageOverview> {
  const sizes = await readSizes(sql);
  const partitioned = new Map<string, StoredPartition[]>();
  for (const table of PARTITIONED_TABLES) {
    const partitions = (await listPartitions(sql, table)).map((partition) => ({
      name: partition.name,
      from: partition.from.toISOString(),
      to: partition.to.toISOString(),
      rows: sizes.get(partition.name)?.rows ?? null,
      bytes: sizes.get(partition.name)?.bytes ?? 0,
      ...whatNext(config(), table, partition),
    }));
    partitioned.set(table.table, partitions);
  }
  const tables = [...sizes.values()].filter(({ parent }) => parent === null)
    .map(({ name }) => toStoredTable(name, [...sizes.values()], partitioned.get(name) ?? []))
    .sort((a, b) => b.bytes - a.bytes || a.name.localeCompare(b.name));
  return { object: "storage", tables, archives: await listArchives(sql) };
}

interface Size {
  name: string;
  parent: string | null;
  rows: number | null;
  bytes: number;
}

/**
 * Rows are estimated without reading them: by those per page at the last vacuum or analyze, times the pages there are
 * now. Small and young tables have seen neither for days: there the counter of inserts and deletes is used, which is
 * zero after a crash.
 */
async function readSizes(sql: Queries): Promise<Map<string, Size>> {
  const rows = await sql<Size[]>`
    select c.relname as name, i.inhparent::regclass::text as parent,
           round(case when c.relkind = 'p' then null
                      when s.pages = 0 then 0
                      when c.reltuples >= 0 and c.relpages > 0 then c.reltuples / c.relpages * s.pages
                      else nullif(pg_stat_get_live_tuples(c.oid), 0) end)::float8 as rows,
           pg_total_relation_size(c.oid)::float8 as bytes
      from pg_class c left join pg_inherits i on i.inhrelid = c.oid,
           lateral (select pg_relation_size(c.oid) / current_setting('block_size')::int as pages) s
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')`;
  return new Map(rows.map((row) => [row.name, row]));
}

/** A partitioned table has the sum of its partitions, the default one included. */
function toStoredTable(
  name: string,
  sizes: readonly Size[],
  partitions: StoredPartition[],
): StoredTable {
  const own = sizes.filter((size) => size.name === name);
  const parts = sizes.filter((size) => size.parent === name);
  const rows = (parts.length === 0 ? own : parts).map((part) => part.rows);
  return {
    name,
    rows: rows.reduce((sum, each) => sum === null || each === null ? null : sum + each, 0),
    bytes: [...own, ...parts].reduce((sum, { bytes }) => sum + bytes, 0),
    partitions,
  };
}

const DAY_MS = 86_400_000;

function whatNext(
  config: Config,
  table: PartitionedTable,
  { to }: Partition,
): Pick<StoredPartition, "next" | "due_at"> {
  if (table === RECEIPT_TABLE || table === TRANSFER_TABLE) {
    const { moneyMonths } = config.storage.keep;
    return moneyMonths === null
      ? { next: null, due_at: null }
      : { next: "archive", due_at: addMonths(to, moneyMonths).toISOString() };
  }
  const days = keepDays(config, table);
  return { next: "drop", due_at: new Date(to.getTime() + days * DAY_MS).toISOString() };
}

/** Of a table whose partitions are dropped. */
function keepDays(
  { logs, responses, storage: { keep } }: Config,
  { table }: PartitionedTable,
): number {
  if (table === AUDIT_TABLE.table) return logs.auditKeepDays;
  if (table === RESPONSE_TABLE.table) return responses.keepDays;
  return REQUEST_TABLES.some((one) => one.table === table) ? logs.keepDays : keep.webhookDays;
}

async function listArchives(sql: Queries): Promise<StoredArchive[]> {
  const rows = await sql<
    { month: string; archived_at: Date; files: StoredArchive["files"] }[]
  >`
    select to_char(m.month, 'YYYY-MM') as month, m.archived_at,
           json_agg(json_build_object('table', table_name, 'store', store, 'key', key, 'rows', rows,
                                      'bytes', bytes, 'sha256', sha256) order by table_name) as files
      from archive_month m join archive_file f on f.month = m.month
     where m.archived_at is not null group by m.month order by m.month`;
  return rows.map(({ archived_at, ...row }) => ({
    ...row,
    archived_at: archived_at.toISOString(),
  }));
}
