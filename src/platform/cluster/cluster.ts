import type { Sql } from "postgres";
import { newId } from "../../lib/ids.ts";
import type { Database, Queries } from "../database/database.ts";
import { sleep } from "../../lib/timers.ts";
import type { Log } from "../telemetry/log.ts";

export type Topic = "api_key" | "account";
export interface CacheVersion {
  number: string;
  topic: Topic;
  subject: string;
}
export type Listener = (topic: Topic, subject: string) => void;

/** Another gateway on the same database. */
export interface Peer {
  readonly id: string;
  /** Where it keeps what is its own: a folder of a machine. */
  readonly hostId: string | null;
  readonly queue: string | null;
  readonly configVersion: string | null;
  /** Its declaration was first seen after the one this node serves. */
  readonly isAhead: boolean;
}

/**
 * Tells every node what changed, so that each may keep things in memory and none serves what was
 * withdrawn.
 */
export interface Cluster extends AsyncDisposable {
  readonly nodeId: string;
  onChange(listener: Listener): void;
  /** Inside the transaction that makes the change. */
  record(sql: Queries, topic: Topic, subject: string): Promise<CacheVersion>;
  /** After that transaction: waits until no node can still act on the old state. */
  settle(mark: CacheVersion): Promise<void>;
  /** Who else lived when this node last looked, two seconds ago at most unless the database is away. */
  readonly peers: readonly Peer[];
  /** False when this node may have missed something: then nothing remembered counts. `now` as `performance.now()`. */
  isFresh(now: number): boolean;
}

/** How often a node says that it lives; also the longest a lost notification stays unnoticed. */
const BEAT_MS = 2_000;
/** A node that could not reach the database for this long trusts nothing it remembers … */
const FRESH_MS = 5_000;
/** … and only well after that do others stop waiting for it. */
export const DEAD_SECONDS = 10;
const CHANNEL = "tollgate_change";

export interface ClusterOptions {
  log: Pick<Log, "warn">;
  configVersion: () => string;
  currency: () => string;
  hostId: string;
  queue: string;
  /** Repeats a step that the database could not serve; left out, it is tried once. */
  patiently?: <T>(step: () => Promise<T>) => Promise<T>;
}

/** The embedded database has one node: what it changes, it knows. */
class LocalChanges implements Cluster {
  readonly nodeId = newId("node");
  readonly peers = [];
  readonly #listeners: Listener[] = [];

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  record(_sql: Queries, topic: Topic, subject: string): Promise<CacheVersion> {
    return Promise.resolve({ number: "0", topic, subject });
  }

  settle({ topic, subject }: CacheVersion): Promise<void> {
    for (const listener of this.#listeners) listener(topic, subject);
    return Promise.resolve();
  }

  isFresh(): boolean {
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Changes as rows that every node reads in order; NOTIFY only says that there is something to read. */
class SharedChanges implements Cluster {
  readonly nodeId = newId("node");
  readonly #listeners: Listener[] = [];
  #peers: readonly Peer[] = [];
  #declared: string | null = null;
  #seen = 0n;
  #freshUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #beating: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #listening: { unlisten(): Promise<void> } | undefined;

  constructor(private readonly sql: Sql, private readonly options: ClusterOptions) {}

  async open(): Promise<this> {
    // Nothing is remembered yet, so everything up to now counts as seen.
    const [row] = await this.sql<[{ seen: string }]>`
      with newest as (select coalesce(max(number), 0) as seen from change),
           gone as (delete from node where seen_at < now() - interval '1 day')
      insert into node (id, seen_at, seen_change, config_version, currency)
      select ${this.nodeId}, now(), seen, ${this.options.configVersion()}, ${this.options.currency()}
        from newest
      -- The start may repeat this when it lost its connection after it was done.
      on conflict (id) do update set seen_at = excluded.seen_at, seen_change = excluded.seen_change
      returning seen_change as seen`;
    this.#seen = BigInt(row.seen);
    this.#listening ??= await this.sql.listen(
      CHANNEL,
      () => void this.#beat(),
      () => void this.#beat(),
    );
    await this.#beat();
    return this;
  }

  get peers(): readonly Peer[] {
    return this.#peers;
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  async record(sql: Queries, topic: Topic, subject: string): Promise<CacheVersion> {
    // One writer at a time: numbers become visible in their order, so a reader can miss none.
    await sql`select pg_advisory_xact_lock(hashtext(${CHANNEL}))`;
    const [row] = await sql<[{ number: string }]>`
      with made as (insert into change (topic, subject) values (${topic}, ${subject}) returning number)
      select number, pg_notify(${CHANNEL}, '') from made`;
    return { number: row.number, topic, subject };
  }

  async settle({ number }: CacheVersion): Promise<void> {
    await this.#beat();
    const patience = performance.now() + (DEAD_SECONDS + 5) * 1000;
    while (performance.now() < patience) {
      const [row] = await this.sql<[{ behind: number }]>`
        select count(*)::int as behind from node
         where seen_change < ${number}::bigint
           and seen_at > now() - make_interval(secs => ${DEAD_SECONDS})`;
      if (row.behind === 0) return;
      await sleep(10);
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
      await this.#meet();
      this.#freshUntil = started + FRESH_MS;
    } catch (error) {
      if (!this.#closed) this.options.log.warn("cannot reach the other nodes", { error });
    }
    if (!this.#closed) this.#timer = setTimeout(() => void this.#beat(), BEAT_MS);
  }

  /** Says that this node lives and what it serves, and looks who else does. */
  async #meet(): Promise<void> {
    const { hostId, queue } = this.options;
    const version = this.options.configVersion();
    if (version !== this.#declared) {
      await this
        .sql`insert into config_activation (version) values (${version}) on conflict do nothing`;
    }
    const peers = await this.sql<Peer[]>`
      with me as (
        insert into node (id, seen_at, seen_change, config_version, currency, host_id, queue)
        values (${this.nodeId}, now(), ${String(this.#seen)}::bigint, ${version},
                ${this.options.currency()}, ${hostId}, ${queue})
        on conflict (id) do update set seen_at = excluded.seen_at, seen_change = excluded.seen_change,
          config_version = excluded.config_version, host_id = excluded.host_id, queue = excluded.queue)
      select id, host_id as "hostId", queue, node.config_version as "configVersion",
             coalesce(theirs.activated_at > mine.activated_at, false) as "isAhead"
        from node
        left join config_activation theirs on theirs.version = node.config_version
        left join config_activation mine on mine.version = ${version}
       where id <> ${this.nodeId} and seen_at > now() - make_interval(secs => ${DEAD_SECONDS})
       order by started_at, id`;
    this.#declared = version;
    const [was, is] = [isBehind(this.#peers), isBehind(peers)];
    this.#peers = peers;
    if (is && !was) {
      this.options.log.warn("this node runs an older configuration than its peers", {
        declaration: version,
        newer: [...new Set(peers.filter((peer) => peer.isAhead).map((peer) => peer.configVersion))],
      });
    }
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

/** Whether a node that sees these peers serves an older declaration than one of them. */
export function isBehind(peers: readonly Peer[]): boolean {
  return peers.some(({ isAhead }) => isAhead);
}

export async function joinCluster(database: Database, options: ClusterOptions): Promise<Cluster> {
  if (database.kind === "embedded") return new LocalChanges();
  const changes = new SharedChanges(database.sql, options);
  const { patiently = (step) => step() } = options;
  return await patiently(() => changes.open());
}
