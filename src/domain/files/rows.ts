import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { FileKind, StoredFile } from "./files.ts";
import type { StoreName } from "./stores.ts";

/** The maximum duration of an upload; a row that is not ready after it is abandoned. */
export const INTAKE_HOURS = 2;

export interface FileRow {
  id: string;
  account_id: string;
  origin: "upload" | "output";
  task_id: string | null;
  store: StoreName;
  filename: string;
  mime_type: string;
  kind: FileKind;
  bytes: string;
  sha256: string;
  width: number | null;
  height: number | null;
  duration_ms: string | null;
  created_at: Date;
  expires_at: Date;
}

export type NewFileRow = Pick<
  FileRow,
  "id" | "account_id" | "origin" | "task_id" | "store" | "filename" | "mime_type" | "kind"
>;

/** Inserts the row of an upload. Null if its maximum size fits the storage of the account; else the bytes already used. */
export async function reserveRow(
  sql: Queries,
  row: NewFileRow,
  { bytesMost, spaceBytes }: { bytesMost: number; spaceBytes: number },
): Promise<{ taken: number } | null> {
  const upload = JSON.stringify({ ...row, reserved_bytes: bytesMost });
  const [{ taken }] = await sql<[{ taken: string | null }]>`
    select file_reserve(json_populate_record(null::file, ${upload}::text::json), ${spaceBytes}::bigint,
                        ${INTAKE_HOURS}) as taken`;
  return taken === null ? null : { taken: Number(taken) };
}

/** A file that may be read. Files of a closed account may not. */
export async function findRow(sql: Queries, id: string): Promise<FileRow | null> {
  const [row] = await sql<[FileRow?]>`
    select f.* from file f join account a on a.id = f.account_id
     where f.id = ${id} and f.ready_at is not null and f.expires_at > now() and a.closed_at is null`;
  return row ?? null;
}

export interface FileQuery {
  account: string;
  origin?: "upload" | "output" | undefined;
  limit: number;
  after?: string | undefined;
  order: "asc" | "desc";
}

export async function listRows(
  sql: Queries,
  { account, origin, limit, after, order }: FileQuery,
): Promise<{ rows: FileRow[]; hasMore: boolean }> {
  const isAscending = order === "asc";
  if (after !== undefined && !/^file_/.test(after)) {
    throw new ApiError("invalid_value", "after must be the id of a list's last entry.", {
      param: "after",
    });
  }
  // Ids sort by creation, so that a page may start after a deleted file.
  const rows = await sql<FileRow[]>`
    select * from file
     where account_id = ${account} and ready_at is not null and expires_at > now()
       ${origin === undefined ? sql`` : sql`and origin = ${origin}`}
       ${
    after === undefined ? sql`` : isAscending ? sql`and id > ${after}` : sql`and id < ${after}`
  }
     order by id ${isAscending ? sql`asc` : sql`desc`} limit ${limit + 1}`;
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** Expires a file now. Null if there is no such file. */
export async function expireRow(
  sql: Queries,
  account: string,
  id: string,
): Promise<FileRow | null> {
  const [row] = await sql<[FileRow?]>`
    update file set expires_at = now()
     where id = ${id} and account_id = ${account} and ready_at is not null and expires_at > now()
    returning *`;
  return row ?? null;
}

/** Expires all files of an account after these days, so that the cleaner deletes their bytes. */
export async function expireRows(sql: Queries, account: string, days = 0): Promise<void> {
  await sql`
    update file set expires_at = now() + make_interval(days => ${days})
     where account_id = ${account} and ready_at is not null
       and expires_at > now() + make_interval(days => ${days})`;
}

export async function deleteRow(sql: Queries, id: string): Promise<void> {
  await sql`delete from file where id = ${id}`;
}

export function toStoredFile(row: FileRow): StoredFile {
  return {
    id: row.id,
    account: row.account_id,
    origin: row.origin,
    taskId: row.task_id,
    filename: row.filename,
    mimeType: row.mime_type,
    kind: row.kind,
    bytes: Number(row.bytes),
    sha256: row.sha256,
    width: row.width,
    height: row.height,
    durationMs: row.duration_ms === null ? null : Number(row.duration_ms),
    store: row.store,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
