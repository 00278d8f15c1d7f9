import { GroupCommit, splitSingles } from "../../lib/group_commit.ts";
import { timeOfId } from "../../lib/ids.ts";
import type { TextSeal } from "../../lib/text_seal.ts";
import type { Queries } from "../../platform/database/database.ts";

export interface NewResponse {
  readonly id: string;
  readonly account: string;
  readonly previous: string | null;
  /** JSON. */
  readonly body: string;
}

/** A stored response. */
export interface StoredResponse {
  readonly id: string;
  readonly previous: string | null;
  readonly body: string;
}

interface Row {
  id: string;
  previous_id: string | null;
  body: string;
}

/** Rows of one statement. */
const ROWS_MAX = 64;
/** The longest conversation that is put together from stored responses. */
const CHAIN_MAX = 1_000;

/** Responses of POST /v1/responses that clients may refer to. Every read names the account. */
export class ResponseStore {
  readonly #writes: GroupCommit<NewResponse, void>;

  constructor(private readonly sql: Queries, private readonly box: TextSeal) {
    this.#writes = new GroupCommit({
      itemsMax: ROWS_MAX,
      run: (rows) => this.#insert(rows),
      split: splitSingles,
    });
  }

  /** Resolves when it is durable. */
  save(response: NewResponse): Promise<void> {
    return this.#writes.add(response);
  }

  async find(account: string, id: string): Promise<StoredResponse | null> {
    const createdAt = createdAtOf(id);
    if (createdAt === null) return null;
    const [row] = await this.sql<Row[]>`
      select id, previous_id, body from response
       where id = ${id} and created_at = ${createdAt} and account_id = ${account}`;
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
        select id, previous_id, body, 1 as depth from response
         where id = ${id} and created_at = ${createdAt} and account_id = ${account}
        union all
        select r.id, r.previous_id, r.body, c.depth + 1 from chain c
          join response r on r.id = c.previous_id
         where r.account_id = ${account} and c.depth < ${CHAIN_MAX})
      select id, previous_id, body from chain order by depth desc`;
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
                           ${rows.map(({ id, body }) => this.box.seal(body, id))}::text[])`;
    return rows.map(() => undefined);
  }

  #toStored({ id, previous_id, body }: Row): StoredResponse {
    return { id, previous: previous_id, body: this.box.unseal(body, id) };
  }
}

/** Null for a text that is no id. */
function createdAtOf(id: string): string | null {
  const time = timeOfId(id);
  return time === null ? null : new Date(time).toISOString();
}
