import type postgres from "postgres";
import type { Stores } from "../../domain/files/stores.ts";
import { sleep } from "../../lib/timers.ts";
import { LOCK_NOT_AVAILABLE, lockPartitions } from "../../platform/database/partitions.ts";
import { type ArchiveTable, archiveTables, type Month, sumRows } from "./archive_tables.ts";
import { checkMonth, listArchiveFiles } from "./check_archive.ts";
import { writeArchive } from "./write_archive.ts";

export interface ArchiveDeps {
  readonly sql: postgres.Sql;
  readonly stores: Pick<Stores, "named" | "chosen">;
  /** After this time without a sign of life another node may go on. */
  readonly leaseSeconds?: number;
  /** Called after each step; tests end the work there, as a crash would. */
  afterStep?(step: string): void;
}

/** Another node has taken over the month, or something changed its rows: a later round begins again. */
export class ArchiveInterrupted extends Error {
  override readonly name = "ArchiveInterrupted";
}

/** Thrown in the transaction that folds a month: returning from it would commit what it did so far. */
class RowsChanged extends ArchiveInterrupted {}

interface Claim {
  readonly month: Month;
  readonly fence: number;
}

const LEASE_SECONDS = 600;
const RENEW_MS = 60_000;
const LOCK_TRIES = 20;
/** Statements that use the tables wait behind the attempt to lock them: not for long. */
const LOCK_TIMEOUT = "300ms";

/** `busy`: another node works on the month, or it is archived. Else what prevents it, in words. */
export type ArchiveOutcome = "archived" | "busy" | { readonly obstacle: string };

/**
 * Archives the receipts and transfers of a month: writes them to the file store, reads the files again, and then, in one
 * transaction, folds the rows into totals and drops them. What ends it before that transaction leaves the rows where
 * they are; a later call uses the files that are complete and writes the others again. `findObstacle` is asked while no
 * other node works on the month: it may be expensive.
 */
export async function archiveMonth(
  deps: ArchiveDeps,
  month: Month,
  findObstacle: () => Promise<string | null>,
): Promise<ArchiveOutcome> {
  const claim = await claimMonth(deps, month);
  if (claim === null) return "busy";
  deps.afterStep?.("claimed");
  const obstacle = await findObstacle();
  if (obstacle !== null) {
    await releaseClaim(deps, claim);
    return { obstacle };
  }
  for (const table of archiveTables(month)) {
    await writeFile(deps, claim, table);
    deps.afterStep?.(`written ${table.name}`);
  }
  const wrong = await checkMonth(deps.stores, await listArchiveFiles(deps.sql, month.day));
  if (wrong.length > 0) {
    await forgetFiles(deps, claim);
    throw new ArchiveInterrupted(`Archive not readable as written: ${wrong.join("; ")}`);
  }
  deps.afterStep?.("checked");
  await foldRows(deps, claim);
  deps.afterStep?.("folded");
  return "archived";
}

async function claimMonth({ sql, leaseSeconds }: ArchiveDeps, month: Month): Promise<Claim | null> {
  const lease = leaseSeconds ?? LEASE_SECONDS;
  const [row] = await sql<[{ fence: number }?]>`
    insert into archive_month as m (month, fence, claimed_until)
    values (${month.day}, 1, now() + make_interval(secs => ${lease}))
    on conflict (month) do update set fence = m.fence + 1, claimed_until = excluded.claimed_until
     where m.archived_at is null and (m.claimed_until is null or m.claimed_until <= now())
    returning fence`;
  return row === undefined ? null : { month, fence: row.fence };
}

/** Throws when the claim was lost. */
async function renewClaim(
  { sql, leaseSeconds }: ArchiveDeps,
  { month, fence }: Claim,
): Promise<void> {
  const renewed = await sql`
    update archive_month set claimed_until = now() + make_interval(secs => ${
    leaseSeconds ?? LEASE_SECONDS
  })
     where month = ${month.day} and fence = ${fence} and archived_at is null`;
  if (renewed.count === 0) throw new ArchiveInterrupted("Another node archives this month");
}

/** Writes one file, unless an earlier claim has. Its name is recorded first, so that what a crash leaves is found. */
async function writeFile(deps: ArchiveDeps, claim: Claim, table: ArchiveTable): Promise<void> {
  const { sql, stores } = deps;
  const { month, fence } = claim;
  await renewClaim(deps, claim);
  const [before] = await sql<[{ store: "local" | "s3"; key: string; is_complete: boolean }?]>`
    select store, key, sha256 is not null as is_complete from archive_file
     where month = ${month.day} and table_name = ${table.name}`;
  if (before?.is_complete) return;
  if (before !== undefined) await stores.named(before.store).delete(before.key);
  const key = `archive-${month.day.slice(0, 7)}-${table.name}-${fence}.csv.gz`;
  const store = stores.chosen;
  await sql`
    insert into archive_file (month, table_name, store, key)
    select month, ${table.name}, ${store}, ${key} from archive_month
     where month = ${month.day} and fence = ${fence}
    on conflict (month, table_name) do update set store = excluded.store, key = excluded.key`;
  let renewedAt = performance.now();
  const manifest = await writeArchive(sql, stores.named(store), {
    key,
    table,
    async onPage() {
      if (performance.now() - renewedAt < RENEW_MS) return;
      await renewClaim(deps, claim);
      renewedAt = performance.now();
    },
  });
  const { rows, amount, bytes, sha256 } = manifest;
  const recorded = await sql`
    update archive_file
       set rows = ${rows}, amount = ${amount}, bytes = ${bytes}, sha256 = ${sha256}, written_at = now()
     where month = ${month.day} and table_name = ${table.name} and key = ${key}`;
  if (recorded.count > 0) return;
  await stores.named(store).delete(key);
  throw new ArchiveInterrupted("Another node archives this month");
}

/** The next claim may come at once. */
async function releaseClaim({ sql }: ArchiveDeps, { month, fence }: Claim): Promise<void> {
  await sql`
    update archive_month set claimed_until = null where month = ${month.day} and fence = ${fence}`;
}

/** The files are written again by the next claim. */
async function forgetFiles(deps: ArchiveDeps, claim: Claim): Promise<void> {
  const { month, fence } = claim;
  await deps.sql`
    update archive_file set sha256 = null where month in (
      select month from archive_month where month = ${month.day} and fence = ${fence})`;
  await releaseClaim(deps, claim);
}

async function foldRows(deps: ArchiveDeps, claim: Claim): Promise<void> {
  try {
    await deps.sql.begin((tx) => foldAndDrop(tx, claim));
  } catch (error) {
    if (error instanceof RowsChanged) await forgetFiles(deps, claim);
    throw error;
  }
}

async function foldAndDrop(
  tx: postgres.TransactionSql,
  { month, fence }: Claim,
): Promise<void> {
  const tables = archiveTables(month);
  const unpartitioned = tables.filter((table) => table.unpartitioned !== undefined);
  const partitions = tables.filter((table) => table.unpartitioned === undefined)
    .map(({ relation }) => relation);
  await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
  const claimed = await tx`
    select from archive_month where month = ${month.day} and fence = ${fence} and archived_at is null
       for update`;
  if (claimed.length === 0 || !await lockPartitions(tx, partitions)) {
    throw new ArchiveInterrupted("Another node archives this month");
  }
  await mustMatchFiles(tx, month, tables);
  await tx`select ledger_fold_month(${month.day}::text::date, ${month.firstId}, ${month.endId})`;
  await lockForDrop(tx, tables.map(({ relation }) => relation));
  // A correction that came meanwhile is in no file.
  await mustMatchFiles(tx, month, unpartitioned);
  for (const table of unpartitioned) await deleteRows(tx, table);
  await tx.unsafe(`drop table ${partitions.join(", ")}`);
  await tx`
    update archive_month set archived_at = now(), claimed_until = null where month = ${month.day}`;
}

/** Throws unless the rows are still those that the files have. */
async function mustMatchFiles(
  tx: postgres.TransactionSql,
  month: Month,
  tables: readonly ArchiveTable[],
): Promise<void> {
  for (const table of tables) {
    const { rows, amount } = await sumRows(tx, table);
    const same = await tx`
      select from archive_file
       where month = ${month.day} and table_name = ${table.name} and rows = ${rows}::text::bigint
         and amount = ${amount}::text::numeric and sha256 is not null`;
    if (same.length === 0) {
      throw new RowsChanged("Rows of the month changed after they were written");
    }
  }
}

/** Waits a moment for statements that use the tables, and tries again while others go first. */
async function lockForDrop(
  tx: postgres.TransactionSql,
  relations: readonly string[],
): Promise<void> {
  const tables = ["only receipt", "only transfer", ...relations].join(", ");
  for (let tried = 1;; tried++) {
    try {
      await tx.savepoint((step) => step.unsafe(`lock table ${tables} in access exclusive mode`));
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || tried === LOCK_TRIES) {
        throw error;
      }
      await sleep(50 * tried);
    }
  }
}

async function deleteRows(
  tx: postgres.TransactionSql,
  { relation, where, unpartitioned }: ArchiveTable,
): Promise<void> {
  await tx.unsafe(`alter table ${relation} disable trigger ${unpartitioned!.trigger}`);
  await tx.unsafe(`delete from ${relation} where ${where}`);
  await tx.unsafe(`alter table ${relation} enable trigger ${unpartitioned!.trigger}`);
}
