import { GroupCommit, splitSingles } from "../../lib/group_commit.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import type { MediaFacts } from "./media_facts.ts";
import { type FileRow, INTAKE_HOURS, type NewFileRow } from "./rows.ts";

/** What is known of a file when its bytes are stored. */
export interface CompleteFile extends MediaFacts {
  bytes: number;
  sha256: string;
  keepDays: number;
}

interface RowWrite {
  readonly op: "insert" | "complete";
  readonly id: string;
}

const WRITES_MAX = 128;

/** Writes rows of files. Those of the same moment share a statement. */
export class RowWrites {
  readonly #writes: GroupCommit<RowWrite, FileRow | null>;

  constructor(sql: Queries) {
    this.#writes = new GroupCommit({
      run: (writes) => write(sql, writes),
      nameOf: ({ id }) => id,
      split: (writes, error) => isStorageDown(error) ? [] : splitSingles(writes),
      itemsMax: WRITES_MAX,
    });
  }

  /** Inserts the row of an output, which is visible when it is complete. */
  async insert(row: NewFileRow): Promise<void> {
    await this.#writes.add({ op: "insert", ...row });
  }

  /** Makes the file visible. Null if its row expired before the bytes were complete. */
  async complete(id: string, stored: CompleteFile): Promise<FileRow | null> {
    const { durationMs: duration_ms, keepDays: keep_days, ...facts } = stored;
    const completed = { ...facts, duration_ms, keep_days };
    return await this.#writes.add({ op: "complete", id, ...completed });
  }
}

async function write(sql: Queries, writes: readonly RowWrite[]): Promise<(FileRow | null)[]> {
  const doc = JSON.stringify(Object.groupBy(writes, ({ op }) => op));
  const rows = await sql<FileRow[]>`
    select * from file_write(${doc}::text::json, make_interval(hours => ${INTAKE_HOURS}))`;
  const visible = new Map(rows.map((row) => [row.id, row]));
  return writes.map(({ id }) => visible.get(id) ?? null);
}
