import type postgres from "postgres";
import type { Queries } from "./database.ts";

/**
 * A table that is partitioned by ranges of a time. Its partitions are named after their first day or month:
 * `request_20261116`, `receipt_202611`. The partition `<table>_default` takes rows of periods that have none, so that
 * a missing partition never fails a write.
 */
export interface PartitionedTable {
  readonly table: string;
  /** The column of the partition key, a `timestamptz`. */
  readonly column: string;
  readonly every: "day" | "month";
  /** How many periods after the current one have their partition already. */
  readonly ahead: number;
}

export interface PartitionRound {
  /** Periods whose rows are all older than this are dropped; null: none is. */
  readonly keepSince: Date | null;
  readonly now: Date;
}

export interface PartitionChanges {
  readonly created: readonly string[];
  readonly dropped: readonly string[];
}

/** For the turn of other nodes. */
const TURN_TIMEOUT = "10s";
/** Creating and dropping wait for statements that use the table, and all others wait behind them: not for long. */
const LOCK_TIMEOUT = "300ms";

/**
 * Creates the partitions of the current and the next periods, and drops those that are over their time. Any number of
 * nodes may call it at once: each change is made once. Harmless to repeat; a round that fails, such as by a lock that
 * it did not get in time, leaves whole partitions behind and is made up for by the next one.
 */
export async function maintainPartitions(
  sql: postgres.Sql,
  table: PartitionedTable,
  { keepSince, now }: PartitionRound,
): Promise<PartitionChanges> {
  const [created, dropped]: [string[], string[]] = [[], []];
  const existing = await listPartitions(sql, table);
  for (const period of wantedPeriods(table, now)) {
    if (existing.includes(period.name)) continue;
    if (await lockedStep(sql, table, (tx) => createPartition(tx, table, period))) {
      created.push(period.name);
    }
  }
  if (keepSince === null) return { created, dropped };
  // A period ends where the next one begins: it is over its time when that one began before `keepSince`.
  const oldestKept = periodOf(table, keepSince).name;
  for (const name of existing.filter((each) => each < oldestKept)) {
    if (await lockedStep(sql, table, (tx) => dropPartition(tx, table, name))) dropped.push(name);
  }
  await sql.unsafe(
    `delete from ${table.table}_default where ${table.column} < '${keepSince.toISOString()}'`,
  );
  return { created, dropped };
}

interface Period {
  readonly name: string;
  readonly from: Date;
  readonly to: Date;
}

/** The period of a moment, by UTC. */
function periodOf({ table, every }: PartitionedTable, moment: Date, later = 0): Period {
  const [year, month, day] = [
    moment.getUTCFullYear(),
    moment.getUTCMonth(),
    moment.getUTCDate(),
  ];
  const begin = (n: number) =>
    new Date(every === "day" ? Date.UTC(year, month, day + n) : Date.UTC(year, month + n));
  const from = begin(later);
  const digits = from.toISOString().slice(0, every === "day" ? 10 : 7).replaceAll("-", "");
  return { name: `${table}_${digits}`, from, to: begin(later + 1) };
}

function wantedPeriods(table: PartitionedTable, now: Date): Period[] {
  return Array.from({ length: table.ahead + 1 }, (_, later) => periodOf(table, now, later));
}

const DIGITS = { day: /^\d{8}$/, month: /^\d{6}$/ };

/** Names of the dated partitions. */
async function listPartitions(sql: Queries, { table, every }: PartitionedTable): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = to_regclass(${table}) order by c.relname`;
  return rows.map(({ name }) => name)
    .filter((name) => DIGITS[every].test(name.slice(`${table}_`.length)));
}

/** Runs a step while no other node does; the step returns false where another was there first. */
function lockedStep(
  sql: postgres.Sql,
  { table }: PartitionedTable,
  step: (tx: postgres.TransactionSql) => Promise<boolean>,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await tx.unsafe(`set local lock_timeout = '${TURN_TIMEOUT}'`);
    await tx`select pg_advisory_xact_lock(hashtext(${`partitions of ${table}`}))`;
    await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    return await step(tx);
  });
}

/**
 * Made as a table of its own and then attached: that locks the parent less than `create table … partition of`. Rows
 * of the period that the default partition has are moved; no others can come to it meanwhile.
 */
async function createPartition(
  tx: postgres.TransactionSql,
  partitioned: PartitionedTable,
  { name, from, to }: Period,
): Promise<boolean> {
  const { table, column } = partitioned;
  if ((await listPartitions(tx, partitioned)).includes(name)) return false;
  const [first, end] = [`'${from.toISOString()}'`, `'${to.toISOString()}'`];
  await tx.unsafe(`lock table ${table}_default in access exclusive mode`);
  await tx.unsafe(`create table ${name} (like ${table} including defaults including constraints)`);
  await tx.unsafe(`
    with moved as (
      delete from ${table}_default where ${column} >= ${first} and ${column} < ${end} returning *)
    insert into ${name} select * from moved`);
  await tx.unsafe(
    `alter table ${table} attach partition ${name} for values from (${first}) to (${end})`,
  );
  return true;
}

async function dropPartition(
  tx: postgres.TransactionSql,
  table: PartitionedTable,
  name: string,
): Promise<boolean> {
  if (!(await listPartitions(tx, table)).includes(name)) return false;
  await tx.unsafe(`drop table ${name}`);
  return true;
}
