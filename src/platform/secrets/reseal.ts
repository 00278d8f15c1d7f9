import type { Queries } from "../database/database.ts";
import { writeSealed } from "./seal_check.ts";
import { type SecretBox, UnreadableSecret } from "./types.ts";

export interface Resealed {
  /** Secrets that the first key seals from now on. */
  resealed: number;
  /** Secrets that none of the keys opens; they stay as they are. */
  unreadable: number;
}

const PAGE = 500;

/** A column of sealed texts, each bound to the id of its row. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly box: SecretBox;
}

/**
 * Seals every stored secret with the first key, also those in plain text, and those of other columns. Harmless to
 * repeat.
 */
export async function resealSecrets(
  sql: Queries,
  secretBox: SecretBox,
  others: readonly SealedColumn[] = [],
): Promise<Resealed> {
  const done: Resealed = { resealed: 0, unreadable: 0 };
  const own = { table: "webhook_secret", column: "secret", box: secretBox };
  for (const column of [own, ...others]) await resealColumn(sql, column, done);
  // Last: until here a start without the earlier key must be refused.
  if (done.unreadable === 0) await writeSealed(sql, secretBox);
  return done;
}

async function resealColumn(sql: Queries, column: SealedColumn, done: Resealed): Promise<void> {
  for (let after = "";;) {
    const rows = await sql<{ id: string; stored: string }[]>`
      select id, ${sql(column.column)} as stored from ${sql(column.table)}
       where id > ${after} order by id limit ${PAGE}`;
    for (const row of rows) await resealRow(sql, column, row, done);
    if (rows.length < PAGE) break;
    after = rows.at(-1)!.id;
  }
}

async function resealRow(
  sql: Queries,
  { table, column, box }: SealedColumn,
  { id, stored }: { id: string; stored: string },
  done: Resealed,
): Promise<void> {
  if (box.isCurrent(stored, id)) return;
  try {
    const sealed = box.seal(box.unseal(stored, id), id);
    const { count } = await sql`
      update ${sql(table)} set ${sql(column)} = ${sealed} where id = ${id} and ${
      sql(column)
    } = ${stored}`;
    done.resealed += count;
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    done.unreadable++;
  }
}
