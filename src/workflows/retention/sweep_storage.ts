import { verifyLedger } from "../../domain/ledger/verify.ts";
import { pruneWebhooks } from "../../domain/webhooks/prune_webhooks.ts";
import { pruneChanges } from "../../platform/cluster/prune_changes.ts";
import type { Config } from "../../platform/config/config.ts";
import {
  AUDIT_TABLE,
  createMissingPartitions,
  RECEIPT_TABLE,
  REQUEST_TABLES,
  RESPONSE_TABLE,
  TRANSFER_TABLE,
} from "../../platform/database/partitioned_tables.ts";
import { createPartitions, dropPartitions } from "../../platform/database/partitions.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import { pruneTasks } from "../tasks/prune_tasks.ts";
import { TASK_RULES } from "../tasks/verify_tasks.ts";
import {
  type ArchiveDeps,
  ArchiveInterrupted,
  archiveMonth,
  type ArchiveOutcome,
} from "./archive_month.ts";
import type { Month } from "./archive_tables.ts";
import { dueMonths, findObstacle } from "./due_months.ts";

export interface RetentionDeps extends ArchiveDeps {
  config(): Config;
  readonly log: Pick<Log, "info" | "warn" | "error">;
}

const DAY_MS = 86_400_000;

/** By the clock of the database: that of a node may be wrong, and what is dropped is gone. */
async function readClock({ sql }: Pick<RetentionDeps, "sql">): Promise<Date> {
  const [{ now }] = await sql<[{ now: Date }]>`select ledger_now() as now`;
  return now;
}

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS);

/**
 * Creates the partitions that are needed soon, and drops days of the request log and of stored responses that are over
 * their time.
 */
export async function keepPartitions(deps: RetentionDeps): Promise<string[]> {
  const { sql, config, log } = deps;
  await createMissingPartitions(sql);
  const now = await readClock(deps);
  const { logs, responses } = config();
  const requests = await dropPartitions(sql, REQUEST_TABLES, {
    keepSince: daysBefore(now, logs.keepDays),
  });
  if (requests.length > 0) log.info("request log days dropped", { partitions: requests });
  const stored = await dropPartitions(sql, [RESPONSE_TABLE], {
    keepSince: daysBefore(now, responses.keepDays),
  });
  if (stored.length > 0) log.info("stored responses dropped", { partitions: stored });
  return [...requests, ...stored];
}

export interface StorageSweep {
  /** Partitions that were dropped. */
  dropped: string[];
  /** Months whose receipts and transfers were archived, such as 2026-01. */
  archived: string[];
  /** Tasks that were deleted, subtasks included. */
  tasks: number;
  /** Why a month that is due was not archived; null where none is, or all were. */
  obstacle: string | null;
}

/** Removes everything that is over its time. Any number of nodes may call it at once; each part is done once. */
export async function sweepStorage(deps: RetentionDeps): Promise<StorageSweep> {
  const { sql, config, log } = deps;
  const dropped = await keepPartitions(deps);
  const now = await readClock(deps);
  const { logs, storage: { keep } } = config();
  const months = await pruneWebhooks(sql, daysBefore(now, keep.webhookDays));
  if (months.length > 0) log.info("webhook months dropped", { partitions: months });
  const audit = await dropPartitions(sql, [AUDIT_TABLE], {
    keepSince: daysBefore(now, logs.auditKeepDays),
  });
  if (audit.length > 0) log.info("audit log months dropped", { partitions: audit });
  const tasks = await pruneTasks(sql, daysBefore(now, keep.taskDays));
  if (tasks > 0) log.info("old tasks deleted", { tasks });
  await sql`select key_spend_fold(${now})`;
  await pruneChanges(sql);
  const { archived, obstacle } = await archiveDueMonths(deps, now);
  return { dropped: [...dropped, ...months, ...audit], archived, tasks, obstacle };
}

async function archiveDueMonths(
  deps: RetentionDeps,
  now: Date,
): Promise<Pick<StorageSweep, "archived" | "obstacle">> {
  const { sql, config, log } = deps;
  const archived: string[] = [];
  let isSound: Promise<string | null> | undefined;
  for (const month of await dueMonths(sql, now, config().storage.keep.moneyMonths)) {
    const name = month.day.slice(0, 7);
    const outcome = await archiveDueMonth(deps, month, () => isSound ??= findFailedChecks(deps));
    if (outcome === "busy") return { archived, obstacle: `${name}: another node archives it` };
    if (outcome !== "archived") {
      log.warn("month not archived yet", { month: name, reason: outcome.obstacle });
      return { archived, obstacle: `${name}: ${outcome.obstacle}` };
    }
    log.info("month archived", { month: name });
    archived.push(name);
  }
  return { archived, obstacle: null };
}

async function archiveDueMonth(
  deps: RetentionDeps,
  month: Month,
  findFailed: () => Promise<string | null>,
): Promise<ArchiveOutcome> {
  // A month may have transfers and no receipts.
  const tables = [RECEIPT_TABLE, TRANSFER_TABLE].map((table) => ({ ...table, ahead: 0 }));
  await createPartitions(deps.sql, tables, { now: month.from });
  try {
    return await archiveMonth(
      deps,
      month,
      async () => await findObstacle(deps.sql, month) ?? await findFailed(),
    );
  } catch (error) {
    if (error instanceof ArchiveInterrupted) return { obstacle: error.message };
    throw error;
  }
}

/** What is archived cannot be looked into as easily: a mistake must be found before. */
async function findFailedChecks({ sql, log }: RetentionDeps): Promise<string | null> {
  const { ok, checks } = await verifyLedger(sql, TASK_RULES);
  if (ok) return null;
  const failed = checks.filter((check) => !check.ok).map(({ name }) => name);
  log.error("no month archived, the ledger is not sound", { failed });
  return `ledger verify failed: ${failed.join(", ")}`;
}
