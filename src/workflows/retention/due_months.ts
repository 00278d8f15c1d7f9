import type { Queries } from "../../platform/database/database.ts";
import { RECEIPT_TABLE, TRANSFER_TABLE } from "../../platform/database/partitioned_tables.ts";
import { listPartitions } from "../../platform/database/partitions.ts";
import { type Month, monthOf } from "./archive_tables.ts";

/** Months whose receipts and transfers may leave the database, oldest first. */
export async function dueMonths(
  sql: Queries,
  now: Date,
  moneyMonths: number | null,
): Promise<Month[]> {
  if (moneyMonths === null) return [];
  const partitions = [
    ...await listPartitions(sql, RECEIPT_TABLE),
    ...await listPartitions(sql, TRANSFER_TABLE),
  ];
  const rows = await sql<{ month: string }[]>`
    select month::text as month from archive_month where archived_at is not null`;
  const archived = new Set(rows.map(({ month }) => month));
  const starts = new Set(
    partitions.filter(({ to }) => addMonths(to, moneyMonths) <= now).map(({ from }) =>
      from.getTime()
    ),
  );
  return [...starts].sort((a, b) => a - b).map((start) => monthOf(new Date(start)))
    .filter(({ day }) => !archived.has(day));
}

/** The beginning of a month so many months later. */
export function addMonths(start: Date, months: number): Date {
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months));
}

/** Why a month cannot be archived yet, in words; null: it can be. */
export async function findObstacle(
  sql: Queries,
  { endId, firstId, to }: Month,
): Promise<string | null> {
  const [hold] = await sql<[{ id: string }?]>`
    select id from hold where id collate "C" < ${endId} limit 1`;
  if (hold !== undefined) return `request ${hold.id} is under way`;
  const [{ is_summed }] = await sql<[{ is_summed: boolean }]>`
    select through >= ${to} and not exists (
             select from receipt where id >= ${firstId} and id < ${endId} and resolved_at >= through) as is_summed
      from usage_watermark`;
  return is_summed ? null : "its usage is not summed yet";
}
