import type { Queries } from "../database/database.ts";
import { type SecretBox, UnreadableSecret } from "./types.ts";

const ROW = "seal_check";
const KNOWN_TEXT = "tollgate";

/** `earlier`: another key than the first opens the database. `wrong`: none does. */
export type SealState = "current" | "earlier" | "wrong";

/**
 * Compares the keys with those that sealed this database. The first start with a key stores a sealed text; a
 * database that has none yet is compared by its newest sealed secret.
 */
export async function checkSeal(sql: Queries, secretBox: SecretBox): Promise<SealState> {
  const known = await readSealed(sql) ??
    (secretBox.hasKey ? await firstSealed(sql, secretBox) : null);
  if (known === null) return await canOpenNewest(sql, secretBox) ? "current" : "wrong";
  if (!canOpen(secretBox, known, ROW)) return "wrong";
  return secretBox.isCurrent(known, ROW) ? "current" : "earlier";
}

/** Seals the known text with the first key. */
export async function writeSealed(sql: Queries, secretBox: SecretBox): Promise<void> {
  await sql`
    insert into seal_check (sealed) values (${secretBox.seal(KNOWN_TEXT, ROW)})
    on conflict (is_only) do update set sealed = excluded.sealed`;
}

async function readSealed(sql: Queries): Promise<string | null> {
  const [row] = await sql<[{ sealed: string }?]>`select sealed from seal_check`;
  return row?.sealed ?? null;
}

/** The sealed text of a database that had none; null when its secrets were sealed with another key. */
async function firstSealed(sql: Queries, secretBox: SecretBox): Promise<string | null> {
  if (!await canOpenNewest(sql, secretBox)) return null;
  // Of two nodes that start at once, the second one is compared with the first.
  await sql`
    insert into seal_check (sealed) values (${secretBox.seal(KNOWN_TEXT, ROW)})
    on conflict do nothing`;
  return await readSealed(sql);
}

async function canOpenNewest(sql: Queries, secretBox: SecretBox): Promise<boolean> {
  const [row] = await sql<[{ id: string; secret: string }?]>`
    select id, secret from webhook_secret where secret like 'sealed%' order by id desc limit 1`;
  return row === undefined || canOpen(secretBox, row.secret, row.id);
}

function canOpen(secretBox: SecretBox, stored: string, row: string): boolean {
  try {
    secretBox.unseal(stored, row);
    return true;
  } catch (error) {
    if (error instanceof UnreadableSecret) return false;
    throw error;
  }
}
