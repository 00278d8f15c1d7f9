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

/** Seals every stored secret with the first key, also those in plain text. Harmless to repeat. */
export async function resealSecrets(sql: Queries, secretBox: SecretBox): Promise<Resealed> {
  const done: Resealed = { resealed: 0, unreadable: 0 };
  for (let after = "";;) {
    const rows = await sql<{ id: string; secret: string }[]>`
      select id, secret from webhook_secret where id > ${after} order by id limit ${PAGE}`;
    for (const row of rows) await resealRow(sql, secretBox, row, done);
    if (rows.length < PAGE) break;
    after = rows.at(-1)!.id;
  }
  // Last: until here a start without the earlier key must be refused.
  if (done.unreadable === 0) await writeSealed(sql, secretBox);
  return done;
}

async function resealRow(
  sql: Queries,
  secretBox: SecretBox,
  { id, secret: stored }: { id: string; secret: string },
  done: Resealed,
): Promise<void> {
  if (secretBox.isCurrent(stored, id)) return;
  try {
    const sealed = secretBox.seal(secretBox.unseal(stored, id), id);
    const { count } = await sql`
      update webhook_secret set secret = ${sealed} where id = ${id} and secret = ${stored}`;
    done.resealed += count;
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    done.unreadable++;
  }
}
