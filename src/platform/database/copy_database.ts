import type postgres from "postgres";
import type { Queries } from "./database.ts";
import { rejectTruncate } from "./partitions.ts";
import { StorageError } from "./storage_error.ts";

/** Rows of one table that were copied and compared. */
export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

/** What a new database has of its own, or what belongs to running nodes. Every other table is copied. */
export const TABLES_LEFT_OUT: readonly string[] = ["migration", "migration_function", "node"];
const PAGE = 1_000;

export interface CopyEvents {
  /** A table is complete and compared. */
  onTable?(copied: CopiedTable): void;
  /** Rows of a table that are copied so far. */
  onRows?(copied: CopiedTable): void;
}

interface Table {
  name: string;
  /** Without generated columns, which cannot be inserted. */
  columns: string[];
  key: string[];
  /** Tables that must have their rows before. */
  references: string[];
}

/**
 * Copies every row from one migrated database to another with the same schema, and compares both, in one transaction
 * of the target: when it fails or is killed the target is as it was, and the copy can be started again.
 */
export async function copyDatabase(
  source: postgres.Sql,
  target: postgres.Sql,
  events: CopyEvents = {},
): Promise<CopiedTable[]> {
  return await source.begin("isolation level repeatable read read only", async (from) => {
    return await target.begin(async (to) => {
      await disableTimeouts(to);
      for (const sql of [from, to]) {
        // Rows are copied and compared as text, which depends on these.
        await sql.unsafe("set local time zone 'UTC'; set local datestyle to 'ISO, YMD'");
      }
      const tables = inOrder(
        (await readTables(from)).filter(({ name }) => !TABLES_LEFT_OUT.includes(name)),
      );
      for (const { name } of tables) await to.unsafe(`alter table ${name} disable trigger user`);
      // A target that was started once has rows of its own, such as signing secrets: those of the source count.
      for (const { name } of tables.toReversed()) await to.unsafe(`delete from ${name}`);
      await createSamePartitions(from, to);
      const copied: CopiedTable[] = [];
      for (const table of tables) {
        const onRows = (rows: number) => events.onRows?.({ table: table.name, rows });
        await copyTable(from, to, table, onRows);
        copied.push(await compareTable(from, to, table.name));
        events.onTable?.(copied.at(-1)!);
      }
      for (const { name } of tables) await to.unsafe(`alter table ${name} enable trigger user`);
      await continueSequences(to);
      // Without statistics the first queries over all rows, such as those that verify the ledger, take hours.
      await to.unsafe("analyze");
      return copied;
    });
  });
}

/**
 * A server may have limits for every session. Comparing a large table takes minutes, in which the target's transaction
 * has nothing to do for as long.
 */
async function disableTimeouts(sql: Queries): Promise<void> {
  await sql`
    select set_config(name, '0', true) from pg_settings
     where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;
}

async function readTables(sql: Queries): Promise<Table[]> {
  return await sql<Table[]>`
    select c.relname as name,
           array(select quote_ident(attname) from pg_attribute
                  where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
                  order by attnum) as columns,
           array(select quote_ident(a.attname) from pg_index i, unnest(i.indkey) with ordinality k(number, at)
                   join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
                  where i.indrelid = c.oid and i.indisprimary order by k.at) as key,
           array(select distinct f.confrelid::regclass::text from pg_constraint f
                  where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as references
      from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname`;
}

/** Tables after those that they refer to. */
function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = [];
  const visit = (table: Table): void => {
    if (ordered.includes(table)) return;
    for (const name of table.references) {
      const referred = tables.find((each) => each.name === name);
      if (referred !== undefined) visit(referred);
    }
    ordered.push(table);
  };
  tables.forEach(visit);
  return ordered;
}

/** Without them old rows would be in the default partition, where they are in the way of new ones. */
async function createSamePartitions(from: Queries, to: Queries): Promise<void> {
  const partitions = await from<
    { name: string; parent: string; bound: string; options: string | null }[]
  >`
    select c.relname as name, i.inhparent::regclass::text as parent,
           pg_get_expr(c.relpartbound, c.oid) as bound, array_to_string(c.reloptions, ', ') as options
      from pg_class c join pg_inherits i on i.inhrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relispartition and c.relkind = 'r'`;
  for (const { name, parent, bound, options } of partitions) {
    await to.unsafe(
      `create table if not exists ${name} partition of ${parent} ${bound}
       ${options === null ? "" : `with (${options})`}`,
    );
  }
  await rejectTruncate(to, [...new Set(partitions.map(({ parent }) => parent))]);
}

/** By key: a row that refers to another one of its table was made after it. */
async function copyTable(
  from: Queries,
  to: Queries,
  { name, columns, key }: Table,
  onRows: (rows: number) => void,
): Promise<void> {
  const order = key.length === 0 ? "" : `order by ${key.join(", ")}`;
  await from.unsafe(`declare moved cursor for select t::text as line from ${name} t ${order}`);
  for (let copied = 0;;) {
    const rows = await from.unsafe<{ line: string }[]>(`fetch ${PAGE} from moved`);
    if (rows.length === 0) break;
    const values = columns.map((column) => `(parsed.r).${column}`).join(", ");
    // OFFSET keeps the planner from parsing the line once for each column.
    await to.unsafe(
      `insert into ${name} (${columns.join(", ")}) overriding system value
       select ${values} from unnest($1::text[]) with ordinality as given(line, at),
              lateral (select line::${name} as r offset 0) as parsed order by at`,
      [rows.map(({ line }) => line)],
    );
    onRows(copied += rows.length);
  }
  await from.unsafe("close moved");
}

async function compareTable(from: Queries, to: Queries, table: string): Promise<CopiedTable> {
  const [before, after] = [await sumOf(from, table), await sumOf(to, table)];
  if (before.rows === after.rows && before.sum === after.sum) {
    return { table, rows: Number(before.rows) };
  }
  throw new StorageError(
    `The copy of table ${table} differs: ${before.rows} rows became ${after.rows}. Nothing was changed.`,
  );
}

/** A checksum of all rows in any order. */
async function sumOf(sql: Queries, table: string): Promise<{ rows: string; sum: string }> {
  const [row] = await sql.unsafe<[{ rows: string; sum: string }]>(
    `select count(*)::text as rows,
            coalesce(sum(('x' || substr(md5(t::text), 1, 15))::bit(60)::bigint), 0)::text as sum
       from ${table} t`,
  );
  return row;
}

/** Identity columns go on after the highest number that was copied. */
async function continueSequences(sql: Queries): Promise<void> {
  const columns = await sql<{ table: string; column: string; sequence: string }[]>`
    select c.relname as table, quote_ident(a.attname) as column,
           pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
      from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and a.attidentity <> '' and not c.relispartition`;
  for (const { table, column, sequence } of columns) {
    await sql.unsafe(
      `select setval($1, coalesce((select max(${column}) from ${table}), 0) + 1, false)`,
      [sequence],
    );
  }
}
