import type { Sql } from "postgres";
import { newId } from "../base/ids.ts";
import type { Database, Queries } from "./database.ts";

export type Topic = "api_key" | "account";
export interface Mark {
  number: string;
  topic: Topic;
  subject: string;
}
export type Listener = (topic: Topic, subject: string) => void;

/**
 * Tells every node what changed, so that each may keep things in memory and none serves what was
 * withdrawn.
 */
export interface Changes extends AsyncDisposable {
  readonly nodeId: string;
  onChange(listener: Listener): void;
  /** Inside the transaction that makes the change. */
  record(sql: Queries, topic: Topic, subject: string): Promise<Mark>;
  /** After that transaction: waits until no node can still act on the old state. */
  settle(mark: Mark): Promise<void>;
  /** False when this node may have missed something: then nothing remembered counts. `now` as `performance.now()`. */
  isFresh(now: number): boolean;
}

/** How often a node says that it lives; also the longest a lost notification stays unnoticed. */
const BEAT_MS = 2_000;
/** A node that could not reach the database for this long trusts nothing it remembers … */
const FRESH_MS = 5_000;
/** … and only well after that do others stop waiting for it. */
const DEAD_SECONDS = 10;
const CHANNEL = "tollgate_change";

export interface ChangesOptions {
  log: (message: string, fields?: Record<string, unknown>) => void;
  declaration: () => string;
}

/** The embedded database has one node: what it changes, it knows. */
class LocalChanges implements Changes {
  readonly nodeId = newId("node");
  readonly #listeners: Listener[] = [];

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  record(_sql: Queries, topic: Topic, subject: string): Promise<Mark> {
    return Promise.resolve({ number: "0", topic, subject });
  }

  settle({ topic, subject }: Mark): Promise<void> {
    for (const listener of this.#listeners) listener(topic, subject);
    return Promise.resolve();
  }

  isFresh(): boolean {
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Changes as rows that every node reads in order; NOTIFY only says that there is something to read. */
class SharedChanges implements Changes {
  readonly nodeId = newId("node");
  readonly #listeners: Listener[] = [];
  #seen = 0n;
  #freshUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #beating: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #listening: { unlisten(): Promise<void> } | undefined;

  constructor(private readonly sql: Sql, private readonly options: ChangesOptions) {}

  async open(): Promise<this> {
    // Nothing is remembered yet, so everything up to now counts as seen.
    const [row] = await this.sql<[{ seen: string }]>`
      with newest as (select coalesce(max(number), 0) as seen from change),
           gone as (delete from node where seen_at < now() - interval '1 day')
      insert into node (id, seen_at, seen_change, declaration)
      select ${this.nodeId}, now(), seen, ${this.options.declaration()} from newest
      returning seen_change as seen`;
    this.#seen = BigInt(row.seen);
    this.#listening = await this.sql.listen(
      CHANNEL,
      () => void this.#beat(),
      () => void this.#beat(),
    );
    await this.#beat();
    return this;
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  async record(sql: Queries, topic: Topic, subject: string): Promise<Mark> {
    // One writer at a time: numbers become visible in their order, so a reader can miss none.
    await sql`select pg_advisory_xact_lock(hashtext(${CHANNEL}))`;
    const [row] = await sql<[{ number: string }]>`
      with made as (insert into change (topic, subject) values (${topic}, ${subject}) returning number)
      select number, pg_notify(${CHANNEL}, '') from made`;
    return { number: row.number, topic, subject };
  }

  async settle({ number }: Mark): Promise<void> {
    await this.#beat();
    const patience = performance.now() + (DEAD_SECONDS + 5) * 1000;
    while (performance.now() < patience) {
      const [row] = await this.sql<[{ behind: number }]>`
        select count(*)::int as behind from node
         where seen_change < ${number}::bigint
           and seen_at > now() - make_interval(secs => ${DEAD_SECONDS})`;
      if (row.behind === 0) return;
      await new Promise((resume) => setTimeout(resume, 10));
    }
  }

  isFresh(now: number): boolean {
    return now < this.#freshUntil;
  }

  /** Reads what is new, acts on it, and says so. One at a time; a call during one makes it go again. */
  #beat(): Promise<void> {
    if (this.#beating !== undefined) {
      this.#again = true;
      return this.#beating.then(() => this.#beating);
    }
    this.#beating = this.#run().finally(() => {
      this.#beating = undefined;
      if (this.#again && !this.#closed) {
        this.#again = false;
        this.#beating = this.#beat();
      }
    });
    return this.#beating;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    const started = performance.now();
    try {
      const rows = await this.sql<{ number: string; topic: Topic; subject: string }[]>`
        select number, topic, subject from change where number > ${
        String(this.#seen)
      }::bigint order by number`;
      for (const { number, topic, subject } of rows) {
        for (const listener of this.#listeners) listener(topic, subject);
        this.#seen = BigInt(number);
      }
      await this.sql`
        insert into node (id, seen_at, seen_change, declaration)
        values (${this.nodeId}, now(), ${String(this.#seen)}::bigint, ${this.options.declaration()})
        on conflict (id) do update set seen_at = excluded.seen_at, seen_change = excluded.seen_change,
          declaration = excluded.declaration`;
      this.#freshUntil = started + FRESH_MS;
    } catch (error) {
      if (!this.#closed) this.options.log("cannot reach the other nodes", { error });
    }
    if (!this.#closed) this.#timer = setTimeout(() => void this.#beat(), BEAT_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#beating?.catch(() => undefined);
    clearTimeout(this.#timer);
    await this.#listening?.unlisten().catch(() => undefined);
    await this.sql`delete from node where id = ${this.nodeId}`.catch(() => undefined);
  }
}

export function openChanges(database: Database, options: ChangesOptions): Promise<Changes> {
  return database.kind === "embedded"
    ? Promise.resolve(new LocalChanges())
    : new SharedChanges(database.sql, options).open();
}
