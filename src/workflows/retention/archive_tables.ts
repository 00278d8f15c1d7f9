import type { Queries } from "../../platform/database/database.ts";
import { RECEIPT_TABLE, TRANSFER_TABLE } from "../../platform/database/partitioned_tables.ts";
import { type Partition, periodOf } from "../../platform/database/partitions.ts";
import { idPrefixAt } from "../../lib/ids.ts";

/** A month in UTC, and the bounds of the ids that were made in it. */
export interface Month extends Partition {
  /** Its first day, such as 2026-01-01. */
  readonly day: string;
  readonly firstId: string;
  readonly endId: string;
}

export function monthOf(moment: Date): Month {
  const period = periodOf(RECEIPT_TABLE, moment);
  return {
    ...period,
    day: period.from.toISOString().slice(0, 10),
    firstId: idPrefixAt("req", period.from.getTime()),
    endId: idPrefixAt("req", period.to.getTime()),
  };
}

export type ArchiveTableName = "receipt" | "receipt_correction" | "receipt_part" | "transfer";

/** Where the rows of a month are that make one file of its archive. */
export interface ArchiveTable {
  readonly name: ArchiveTableName;
  /** Its partition, or the table itself. */
  readonly relation: string;
  /** Its rows are few and in one table: they are deleted. The trigger that protects them is off meanwhile. */
  readonly unpartitioned?: { readonly trigger: string };
  readonly where: string;
  /** In the order of the rows in the file. */
  readonly key: readonly { column: string; type: string }[];
  /** What a row adds to `archive_file.amount`. */
  readonly amount: string;
}

const SUM_TAKEN = "(select coalesce(sum(part), 0) from unnest(taken) part)";
const ID = { column: "id", type: "text" };

export function archiveTables(month: Month): ArchiveTable[] {
  return [
    { name: "receipt", relation: month.name, where: "true", key: [ID], amount: SUM_TAKEN },
    {
      name: "receipt_correction",
      relation: "receipt_correction",
      unpartitioned: { trigger: "correction_is_append_only" },
      where: `id >= '${month.firstId}' and id < '${month.endId}'`,
      key: [ID],
      amount:
        `${SUM_TAKEN} - (select coalesce(sum(part), 0) from receipt r, unnest(r.taken) part where r.id = receipt_correction.id)`,
    },
    {
      name: "receipt_part",
      relation: "receipt_part",
      unpartitioned: { trigger: "part_is_append_only" },
      where: `receipt_id >= '${month.firstId}' and receipt_id < '${month.endId}'`,
      key: [{ column: "receipt_id", type: "text" }, { column: "position", type: "int" }],
      amount: "amount",
    },
    {
      name: "transfer",
      relation: periodOf(TRANSFER_TABLE, month.from).name,
      where: "true",
      key: [ID, { column: "created_at", type: "timestamptz" }],
      amount: "amount",
    },
  ];
}

/** How many rows there are, and their amount. */
export async function sumRows(
  sql: Queries,
  { relation, where, amount }: ArchiveTable,
): Promise<{ rows: string; amount: string }> {
  const [row] = await sql.unsafe<[{ rows: string; amount: string }]>(
    `select count(*)::text as rows, coalesce(sum(${amount}), 0)::text as amount from ${relation} where ${where}`,
  );
  return row;
}
