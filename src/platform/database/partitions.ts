import type postgres from "postgres";
import { idPrefixAt, timeOfIdPrefix } from "../../lib/ids.ts";
import type { Queries } from "./database.ts";

/**
 * A table with a partition for each day or month (UTC), named after its beginning: `request_2026_11_16`,
 * `receipt_2026_11`. The partition `<table>_default` takes rows of periods that have none, so that a missing partition
 * never fails a write.
 */
export interface PartitionedTable {
  readonly table: string;
  /** The column of the partition key. */
  readonly column: string;
  /** Of a column of ids, which begin with their time: what stands before it. Left out: the column is a `timestamptz`. */
  readonly idPrefix?: string;
  readonly every: "day" | "month";
  /** How many periods after the current one have their partition already. */
  readonly ahead: number;
  /**
   * Rows leave the default partition at any time, not only at a start: for a table where it does no harm that a
   * statement which began before does not see them.
   */
  readonly movesAtAnyTime?: boolean;
  /** Of a table whose rows change: leaves room for updates in place. */
  readonly fillfactor?: number;
}

export interface Partition {
  readonly name: string;
  readonly from: Date;
  readonly to: Date;
}

/** For the turn of other nodes. */
const TURN_TIMEOUT = "10s";
/** Creating and dropping wait for statements that use the table, and all others wait behind them: not for long. */
const LOCK_TIMEOUT = "300ms";
/** Few statements run while a node starts; a later round makes up for one that does not get its lock. */
const LOCK_TIMEOUT_AT_START = "2s";
/** Postgres: a lock was not free in time. */
export const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Creates the partitions of the current and the next periods, unless they exist. At a start also those of rows in the
 * default partition, which move there. Returns their names. Any number of nodes may call it at once: each partition is
 * created once. Harmless to repeat. A table whose lock is not free in time does not keep the others from theirs: it is
 * left to a later call, and the error thrown at the end; a start goes on without one.
 */
export async function createPartitions(
  sql: postgres.Sql,
  tables: readonly PartitionedTable[],
  { now, isStart = false }: { now: Date; isStart?: boolean },
): Promise<string[]> {
  const created: string[] = [];
  let failure: unknown;
  const tryStep = async (step: () => Promise<void>) => {
    try {
      await step();
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
      failure = error;
    }
  };
  for (const table of tables) {
    await tryStep(async () => {
      const wanted = Array.from({ length: table.ahead + 1 }, (_, n) => periodOf(table, now, n));
      if (isStart) wanted.push(...await periodsOfDefault(sql, table));
      created.push(...await createPeriods(sql, table, wanted, isStart));
    });
  }
  await tryStep(() => protectPartitions(sql, tables, isStart));
  if (failure !== undefined && !isStart) throw failure;
  return created;
}

/** Partitions of append-only tables that a node of an earlier build or an operator has created. */
async function protectPartitions(
  sql: postgres.Sql,
  tables: readonly PartitionedTable[],
  isStart: boolean,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`set local lock_timeout = '${isStart ? LOCK_TIMEOUT_AT_START : LOCK_TIMEOUT}'`);
    await rejectTruncate(tx, tables.map(({ table }) => table));
  });
}

/** Everything else that append-only tables reject, Postgres makes their partitions reject by itself. */
export async function rejectTruncate(sql: Queries, tables: readonly string[]): Promise<void> {
  const names = tables.map((table) => `'${table}'`).join(", ");
  await sql.unsafe(`select partition_reject_truncate(array[${names}]::regclass[])`);
}

async function createPeriods(
  sql: postgres.Sql,
  table: PartitionedTable,
  wanted: readonly Partition[],
  isStart: boolean,
): Promise<string[]> {
  const existing = (await listPartitions(sql, table)).map(({ name }) => name);
  const lockTimeout = isStart ? LOCK_TIMEOUT_AT_START : LOCK_TIMEOUT;
  const mayMove = isStart || table.movesAtAnyTime === true;
  const created: string[] = [];
  for (const period of wanted.filter(({ name }) => !existing.includes(name))) {
    const create = (tx: postgres.TransactionSql) => createPartition(tx, table, period, mayMove);
    if (await inTurn(sql, table, lockTimeout, create)) created.push(period.name);
  }
  return created;
}

/** The partitions that have a period, oldest first. */
export async function listPartitions(
  sql: Queries,
  { table, every }: Pick<PartitionedTable, "table" | "every">,
): Promise<Partition[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = to_regclass(${table}) order by c.relname`;
  return rows.flatMap(({ name }) => {
    const digits = DIGITS[every].exec(name.slice(table.length + 1));
    if (digits === null) return [];
    const [, year, month, day = "01"] = digits;
    return [periodOf({ table, every }, new Date(`${year}-${month}-${day}T00:00:00Z`))];
  });
}

export interface DropOptions {
  /** Periods whose rows are all older than this are dropped. */
  readonly keepSince: Date;
  /** Asked once nothing can write to the partitions any more. Left out: every old partition is dropped. */
  mayDrop?(tx: postgres.TransactionSql, partitions: readonly string[]): Promise<boolean>;
}

/**
 * Drops the partitions that are over their time; those of one period together. Returns their names. Old rows of the
 * default partitions are deleted with them, unless `mayDrop` decides. Any number of nodes may call it at once.
 */
export async function dropPartitions(
  sql: postgres.Sql,
  tables: readonly [PartitionedTable, ...PartitionedTable[]],
  { keepSince, mayDrop }: DropOptions,
): Promise<string[]> {
  const dropped: string[] = [];
  const all = (await Promise.all(tables.map((table) => listPartitions(sql, table)))).flat();
  const old = Map.groupBy(all.filter(({ to }) => to <= keepSince), ({ from }) => from.getTime());
  for (const partitions of old.values()) {
    const names = partitions.map(({ name }) => name);
    const isDone = await inTurn(sql, tables[0], LOCK_TIMEOUT, async (tx) => {
      if (!await lockPartitions(tx, names)) return false;
      if (mayDrop !== undefined && !await mayDrop(tx, names)) return false;
      await tx.unsafe(`drop table ${names.join(", ")}`);
      return true;
    });
    if (isDone) dropped.push(...names);
  }
  if (mayDrop === undefined) {
    for (const { table, column, ...rest } of tables) {
      const old = `${column} < ${boundOf(rest, keepSince)}`;
      await sql.begin((tx) =>
        removeFromDefault(tx, table, `delete from ${table}_default where ${old}`)
      );
    }
  }
  return dropped;
}

/**
 * Stops writes to partitions until the end of the transaction; other partitions are written to as before. Returns
 * false if one of them is gone.
 */
export async function lockPartitions(
  tx: postgres.TransactionSql,
  names: readonly string[],
): Promise<boolean> {
  for (const name of names) {
    const [{ exists }] = await tx<[{ exists: boolean }]>`
      select to_regclass(${name}) is not null as exists`;
    if (!exists) return false;
    await tx.unsafe(`lock table ${name} in share mode`);
  }
  return true;
}

/** The partition of a moment, or of so many periods later. */
export function periodOf(
  { table, every }: Pick<PartitionedTable, "table" | "every">,
  moment: Date,
  later = 0,
): Partition {
  const [year, month, day] = [
    moment.getUTCFullYear(),
    moment.getUTCMonth(),
    moment.getUTCDate(),
  ];
  const begin = (n: number) =>
    new Date(every === "day" ? Date.UTC(year, month, day + n) : Date.UTC(year, month + n));
  const from = begin(later);
  const digits = from.toISOString().slice(0, every === "day" ? 10 : 7).replaceAll("-", "_");
  return { name: `${table}_${digits}`, from, to: begin(later + 1) };
}

const DIGITS = { day: /^(\d{4})_(\d\d)_(\d\d)$/, month: /^(\d{4})_(\d\d)$/ };

/** A moment as a value of the partition key, in quotes. */
function boundOf({ idPrefix }: Pick<PartitionedTable, "idPrefix">, moment: Date): string {
  const bound = idPrefix === undefined
    ? moment.toISOString()
    : idPrefixAt(idPrefix, moment.getTime());
  return `'${bound}'`;
}

/** Periods of the rows in the default partition. Ids that do not begin with a time belong to none. */
function periodsOfDefault(sql: postgres.Sql, table: PartitionedTable): Promise<Partition[]> {
  const { column, idPrefix } = table;
  const isTimed = idPrefix === undefined ? "true" : `${column} ~ '^${idPrefix}_[0-9a-z]{10}'`;
  return sql.begin(async (tx) => {
    await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT_AT_START}'`);
    const periods: Partition[] = [];
    for (let after = "true";;) {
      const [row] = await tx.unsafe<[{ first: string | Date | null }]>(
        `select min(${column}) as first from ${table.table}_default where ${after} and ${isTimed}`,
      );
      const moment = typeof row.first === "string" ? timeOfIdPrefix(row.first) : row.first;
      if (moment === null) return periods;
      const period = periodOf(table, new Date(moment));
      periods.push(period);
      after = `${column} >= ${boundOf(table, period.to)}`;
    }
  });
}

/** Runs a step while no other node does; the step returns false where another was there first. */
function inTurn(
  sql: postgres.Sql,
  { table }: PartitionedTable,
  lockTimeout: string,
  step: (tx: postgres.TransactionSql) => Promise<boolean>,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await tx.unsafe(`set local lock_timeout = '${TURN_TIMEOUT}'`);
    await tx`select pg_advisory_xact_lock(hashtext(${`partitions of ${table}`}))`;
    await tx.unsafe(`set local lock_timeout = '${lockTimeout}'`);
    return await step(tx);
  });
}

/**
 * Made as a table of its own and then attached: that locks the parent less than `create table … partition of`. Rows
 * of the period that the default partition has are moved; no others can come to it meanwhile. If they may not be
 * moved, there is no partition until the next start.
 */
async function createPartition(
  tx: postgres.TransactionSql,
  partitioned: PartitionedTable,
  { name, from, to }: Partition,
  mayMove: boolean,
): Promise<boolean> {
  const { table, column, fillfactor } = partitioned;
  if ((await listPartitions(tx, partitioned)).some((each) => each.name === name)) return false;
  const [first, end] = [boundOf(partitioned, from), boundOf(partitioned, to)];
  const inPeriod = `${column} >= ${first} and ${column} < ${end}`;
  await tx.unsafe(`lock table ${table}_default in access exclusive mode`);
  if (!mayMove) {
    const rows = await tx.unsafe(`select from ${table}_default where ${inPeriod} limit 1`);
    if (rows.length > 0) return false;
  }
  await tx.unsafe(`
    create table ${name} (like ${table} including defaults including constraints)
    ${fillfactor === undefined ? "" : `with (fillfactor = ${fillfactor})`}`);
  await removeFromDefault(
    tx,
    table,
    `with moved as (delete from ${table}_default where ${inPeriod} returning *)
     insert into ${name} select * from moved`,
  );
  await tx.unsafe(
    `alter table ${table} attach partition ${name} for values from (${first}) to (${end})`,
  );
  await rejectTruncate(tx, [table]);
  return true;
}

/** Runs the one kind of statement that may remove rows of an append-only table, and only from its default partition. */
async function removeFromDefault(
  tx: postgres.TransactionSql,
  table: string,
  statement: string,
): Promise<void> {
  await tx`select set_config('tollgate.removes_from', ${`${table}_default`}, true)`;
  await tx.unsafe(statement);
  await tx`select set_config('tollgate.removes_from', '', true)`;
}
