import type postgres from "postgres";
import { createPartitions, type PartitionedTable } from "./partitions.ts";

/** Enough for a gateway that is not started for weeks: rows of a month without a partition must be moved later. */
const MONTHS_AHEAD = 2;

const DAILY = { column: "created_at", every: "day", ahead: 2, movesAtAnyTime: true } as const;

/** The request log and its bodies, which are kept equally long. */
export const REQUEST_TABLES = [
  { table: "request", ...DAILY },
  { table: "request_body", ...DAILY },
] as const satisfies readonly PartitionedTable[];

/** Stored responses, which have a time of their own. */
export const RESPONSE_TABLE: PartitionedTable = { table: "response", ...DAILY };

export const RECEIPT_TABLE: PartitionedTable = {
  table: "receipt",
  column: "id",
  idPrefix: "req",
  every: "month",
  ahead: MONTHS_AHEAD,
};

export const TRANSFER_TABLE: PartitionedTable = {
  table: "transfer",
  column: "created_at",
  every: "month",
  ahead: MONTHS_AHEAD,
};

/** Events, their deliveries and the attempts of those: the ids of all three begin with the time of the event. */
export const WEBHOOK_TABLES = [
  { table: "webhook_event", column: "id", idPrefix: "evt", every: "month", ahead: MONTHS_AHEAD },
  {
    table: "webhook_delivery",
    column: "id",
    idPrefix: "dlv",
    every: "month",
    ahead: MONTHS_AHEAD,
    fillfactor: 80,
  },
  {
    table: "webhook_attempt",
    column: "delivery_id",
    idPrefix: "dlv",
    every: "month",
    ahead: MONTHS_AHEAD,
  },
] as const satisfies readonly PartitionedTable[];

export const AUDIT_TABLE: PartitionedTable = {
  table: "audit_entry",
  column: "created_at",
  every: "month",
  ahead: MONTHS_AHEAD,
};

export const PARTITIONED_TABLES: readonly PartitionedTable[] = [
  ...REQUEST_TABLES,
  RESPONSE_TABLE,
  RECEIPT_TABLE,
  TRANSFER_TABLE,
  ...WEBHOOK_TABLES,
  AUDIT_TABLE,
];

/**
 * Creates the partitions that are missing, by the clock of the database: that of a node may be wrong. Returns their
 * names.
 */
export async function createMissingPartitions(
  sql: postgres.Sql,
  options: { isStart?: boolean } = {},
): Promise<string[]> {
  const [{ now }] = await sql<[{ now: Date }]>`select ledger_now() as now`;
  return await createPartitions(sql, PARTITIONED_TABLES, { now, ...options });
}
