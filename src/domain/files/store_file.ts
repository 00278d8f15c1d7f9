import { newId } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { StoredFile } from "./files.ts";
import type { HashingReader } from "./hashing_reader.ts";
import type { FileType } from "./media_types.ts";
import type { MediaFacts } from "./media_facts.ts";
import type { MediaProbe } from "./media_probe.ts";
import { deleteRow, reserveRow, toStoredFile } from "./rows.ts";
import type { RowWrites } from "./row_writes.ts";
import { storeFailed } from "./byte_store.ts";
import type { Stores } from "./stores.ts";

export interface Incoming {
  account: string;
  origin: "upload" | "output";
  taskId: string | null;
  filename: string;
  type: FileType;
  /** What its first bytes say. */
  sniffed: MediaFacts;
  reader: HashingReader;
  bytesMax: number;
  /** The account's storage limit, if any; `noRoom` makes the error for a file that does not fit. */
  space: { bytes: number; noRoom: (taken: number) => Error } | null;
  /** The error for a file with more bytes. */
  tooLarge: () => Error;
  keepDays: number;
}

/** What files are stored with. */
export interface FileParts {
  sql: Queries;
  rows: RowWrites;
  stores: Stores;
  probe: MediaProbe;
}

/**
 * Inserts the row, stores the bytes, then updates the row, which makes the file visible. If the process dies in
 * between, the cleaner finds the bytes by the row.
 */
export async function storeFile(
  { sql, rows, stores, probe }: FileParts,
  incoming: Incoming,
): Promise<StoredFile> {
  const { reader, type } = incoming;
  const id = newId("file");
  const place = stores.chosen;
  const store = stores.named(place);
  const row = {
    id,
    account_id: incoming.account,
    origin: incoming.origin,
    task_id: incoming.taskId,
    store: place,
    filename: incoming.filename,
    mime_type: type.mimeType,
    kind: type.kind,
  };
  if (incoming.space === null) await rows.insert(row);
  else {
    const { bytes: spaceBytes, noRoom } = incoming.space;
    const full = await reserveRow(sql, row, { bytesMost: incoming.bytesMax, spaceBytes });
    if (full !== null) throw noRoom(full.taken);
  }
  try {
    await store.put(id, reader.chunks(incoming.bytesMax, incoming.tooLarge));
    const { bytes } = reader;
    const { kind, mimeType } = type;
    const { account, sniffed } = incoming;
    const measured = kind === "text" ? sniffed : await probe.probe(account, store, id, {
      ...{ kind, mimeType, bytes, sniffed },
      head: reader.head(),
    });
    const row = await rows.complete(id, {
      ...measured,
      bytes,
      sha256: reader.sha256(),
      keepDays: incoming.keepDays,
    });
    if (row === null) throw storeFailed(new Error("the bytes took too long to come"));
    return toStoredFile(row);
  } catch (error) {
    // Best effort: the cleaner deletes what is left.
    await store.delete(id).then(() => deleteRow(sql, id)).catch(() => {});
    throw error;
  }
}
