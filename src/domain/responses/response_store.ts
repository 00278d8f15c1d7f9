import { GroupCommit, splitSingles } from "../../lib/group_commit.ts";
import { timeOfId } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { SealedColumn } from "../../platform/secrets/reseal.ts";
import type { SecretBox } from "../../platform/secrets/types.ts";

export interface NewResponse {
  readonly id: string;
  readonly account: string;
  readonly previous: string | null;
  /** JSON. */
  readonly body: string;
}

/** A new response as the transaction that creates its task writes it. */
export interface ResponseRow {
  readonly id: string;
  readonly created_at: string;
  readonly previous_id: string | null;
  /** Sealed. */
  readonly body: string;
}

/** The task that makes a background response. */
export interface ResponseTask {
  readonly id: string;
  /** As `Status` of tasks. */
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Its next step is due and has not begun. */
  readonly isLate: boolean;
}

/** A stored response. */
export interface StoredResponse {
  readonly id: string;
  readonly previous: string | null;
  readonly body: string;
  /** Null: it was made while its client waited. */
  readonly task: ResponseTask | null;
}

interface Row {
  id: string;
  previous_id: string | null;
  body: string;
  task_id: string | null;
  task_status: string | null;
  error_code: string | null;
  error_message: string | null;
  is_late?: boolean;
}

/** Rows of one statement. */
const ROWS_MAX = 64;
/** The longest conversation that is put together from stored responses. */
const CHAIN_MAX = 1_000;

/** Responses of POST /v1/responses that clients may refer to. Every read names the account. */
export class ResponseStore {
  readonly #writes: GroupCommit<NewResponse, void>;

  constructor(private readonly sql: Queries, private readonly box: SecretBox) {
    this.#writes = new GroupCommit({
      itemsMax: ROWS_MAX,
      run: (rows) => this.#insert(rows),
      split: splitSingles,
    });
  }

  get sealedColumn(): SealedColumn {
    return { table: "response", column: "body", box: this.box };
  }

  /** Resolves when it is durable. */
  save(response: NewResponse): Promise<void> {
    return this.#writes.add(response);
  }

  /** For a transaction that writes more than the response. */
  toRow({ id, previous, body }: Omit<NewResponse, "account">): ResponseRow {
    return {
      id,
      created_at: createdAtOf(id)!,
      previous_id: previous,
      body: this.sealBody(id, body),
    };
  }

  sealBody(id: string, body: string): string {
    return this.box.seal(body, id);
  }

  async find(account: string, id: string): Promise<StoredResponse | null> {
    const createdAt = createdAtOf(id);
    if (createdAt === null) return null;
    const [row] = await this.sql<Row[]>`
      select r.id, r.previous_id, r.body, r.task_id, coalesce(r.task_status, t.status) as task_status,
             r.error_code, r.error_message, coalesce(t.wake_at < now() - interval '1 second', false) as is_late
        from response r left join task t on t.id = r.task_id and r.task_status is null
       where r.id = ${id} and r.created_at = ${createdAt} and r.account_id = ${account}`;
    return row === undefined ? null : this.#toStored(row);
  }

  /**
   * A response and all that it continues, the oldest first; empty where there is none. The first of a conversation whose
   * beginning is gone still names what it continues.
   */
  async conversation(account: string, id: string): Promise<StoredResponse[]> {
    const createdAt = createdAtOf(id);
    if (createdAt === null) return [];
    const rows = await this.sql<Row[]>`
      with recursive chain as (
        select id, previous_id, body, task_id, task_status, error_code, error_message, 1 as depth from response
         where id = ${id} and created_at = ${createdAt} and account_id = ${account}
        union all
        select r.id, r.previous_id, r.body, r.task_id, r.task_status, r.error_code, r.error_message, c.depth + 1
          from chain c join response r on r.id = c.previous_id
         where r.account_id = ${account} and c.depth < ${CHAIN_MAX})
      select * from chain order by depth desc`;
    return rows.map((row) => this.#toStored(row));
  }

  /** Whether there was such a response. Responses that continue it then have no beginning. */
  async delete(account: string, id: string): Promise<boolean> {
    const createdAt = createdAtOf(id);
    if (createdAt === null) return false;
    const deleted = await this.sql`
      delete from response
       where id = ${id} and created_at = ${createdAt} and account_id = ${account}`;
    return deleted.count > 0;
  }

  async #insert(rows: readonly NewResponse[]): Promise<void[]> {
    await this.sql`
      insert into response (id, created_at, account_id, previous_id, body)
      select * from unnest(${rows.map(({ id }) => id)}::text[],
                           ${rows.map(({ id }) => createdAtOf(id)!)}::timestamptz[],
                           ${rows.map(({ account }) => account)}::text[],
                           ${rows.map(({ previous }) => previous)}::text[],
                           ${rows.map(({ id, body }) => this.sealBody(id, body))}::text[])`;
    return rows.map(() => undefined);
  }

  #toStored(row: Row): StoredResponse {
    const { id, previous_id: previous, body } = row;
    return { id, previous, body: this.box.unseal(body, id), task: taskOf(row) };
  }
}

function taskOf(row: Row): ResponseTask | null {
  const { task_id: id, task_status, error_code: code, error_message, is_late = false } = row;
  if (id === null) return null;
  return {
    id,
    status: task_status ?? "queued",
    error: code === null ? null : { code, message: error_message ?? "" },
    isLate: is_late,
  };
}

/** Null for a text that is no id. */
function createdAtOf(id: string): string | null {
  const time = timeOfId(id);
  return time === null ? null : new Date(time).toISOString();
}
