import type { Stores } from "../../domain/files/stores.ts";
import type { LedgerCheck } from "../../domain/ledger/verify.ts";
import type { Queries } from "../../platform/database/database.ts";
import { checkMonth, listArchiveFiles } from "./check_archive.ts";

const EXAMPLES = 5;

/** Reads all archives, and compares them with what is recorded of them. */
export async function verifyArchives(
  { sql, stores }: { sql: Queries; stores: Pick<Stores, "named"> },
): Promise<LedgerCheck> {
  const files = await listArchiveFiles(sql);
  const wrong: string[] = [];
  for (const month of Map.groupBy(files, ({ month }) => month).values()) {
    wrong.push(...await checkMonth(stores, month));
  }
  return {
    name: "archives have the rows that were written",
    ok: wrong.length === 0,
    detail: wrong.length === 0 ? `${files.length} checked` : wrong.slice(0, EXAMPLES).join("; "),
  };
}
