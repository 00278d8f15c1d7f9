import { join } from "node:path";
import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";

export interface IdentifiedStore {
  /** The same on every node that has the same files. */
  readonly name: string;
  /** Why this node must not serve; null when its files are those of the database. */
  readonly problem: string | null;
}

const MARKER = "store-id";
const ID = /^[0-9a-f-]{36}$/;

/**
 * Names the store of new files. A folder has a marker file, and the database remembers its id: a node whose folder
 * is not shared with the others would store results that they cannot read.
 */
export async function identifyStore(
  sql: Queries,
  dataDir: string,
  { files, s3 }: Config["storage"],
): Promise<IdentifiedStore> {
  if (files === "s3") return { name: `s3:${s3!.endpoint}/${s3!.bucket}`, problem: null };
  const folder = join(dataDir, "files");
  const [stored] = await sql<[{ id: string }?]>`select id from file_store where name = 'local'`;
  const found = await readMarker(folder) ?? (stored === undefined ? await mark(folder) : null);
  if (found === null) {
    return { name: "local:unknown", problem: unmarked(folder, stored!.id) };
  }
  const id = stored?.id ?? await remember(sql, found);
  return { name: `local:${found}`, problem: id === found ? null : unmarked(folder, id) };
}

function unmarked(folder: string, id: string): string {
  return `${folder} is not the folder with the files of this database. Nodes must share it: mount it, or set ` +
    `storage.files: s3. To go on without those files, write ${id} into ${join(folder, MARKER)}.`;
}

async function readMarker(folder: string): Promise<string | null> {
  try {
    const id = (await Deno.readTextFile(join(folder, MARKER))).trim();
    return ID.test(id) ? id : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Of several processes that start on one folder, the first one marks it. */
async function mark(folder: string): Promise<string | null> {
  await Deno.mkdir(folder, { recursive: true });
  const part = join(folder, `${MARKER}.${crypto.randomUUID()}`);
  await Deno.writeTextFile(part, `${crypto.randomUUID()}\n`);
  try {
    // A link, not a write: no other process reads half an id.
    await Deno.link(part, join(folder, MARKER));
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  } finally {
    await Deno.remove(part);
  }
  return await readMarker(folder);
}

async function remember(sql: Queries, id: string): Promise<string> {
  await sql`insert into file_store (name, id) values ('local', ${id}) on conflict do nothing`;
  const [row] = await sql<[{ id: string }]>`select id from file_store where name = 'local'`;
  return row.id;
}
