import type { Sql } from "postgres";
import { newId } from "../../lib/ids.ts";
import { sleep, withTimeout } from "../../lib/timers.ts";
import type { Database, Queries } from "../database/database.ts";
import { ignoreStorageUnavailable } from "../database/storage_error.ts";
import type { Log } from "../telemetry/log.ts";
import type { NodeFingerprints } from "./agreement.ts";
import { Announcements } from "./announcements.ts";

/** `account_stopped`: it was suspended or closed, so that what runs for it ends. */
export type Topic = "api_key" | "account" | "account_stopped";
export interface CacheVersion {
  number: string;
  topic: Topic;
  subject: string;
}
/** A change is acted on when its promise is fulfilled; the node waits for it for a second at most. */
export type Listener = (topic: Topic, subject: string) => void | Promise<void>;

/** Another node on the same database. */
export interface Peer {
  readonly id: string;
  /** The machine and folder where it keeps files that other nodes do not see. */
  readonly hostId: string | null;
  readonly queue: string | null;
  readonly configVersion: string | null;
  /** Its configuration was first activated after the one this node serves. */
  readonly isAhead: boolean;
  /** It was there before this node. */
  readonly startedEarlier: boolean;
  /** Null: a node of an earlier build, which does not tell. */
  readonly fingerprints: NodeFingerprints | null;
}

/** Reports changes to every node, so that each may cache and none serves what was revoked. */
export interface Cluster extends AsyncDisposable {
  readonly nodeId: string;
  onChange(listener: Listener): void;
  /** Records a change, inside the transaction that makes it. */
  record(sql: Queries, topic: Topic, subject: string): Promise<CacheVersion>;
  /** After that transaction: waits until no node can still act on the old state. */
  awaitPeers(version: CacheVersion): Promise<void>;
  /** Tells the other nodes at once what they would notice by themselves a little later. May be lost. */
  announce(subject: string): void;
  onAnnouncement(listener: (subject: string) => void): void;
  /** The other nodes as of the last heartbeat, two seconds ago at most unless the database is down. */
  readonly peers: readonly Peer[];
  /** What the nodes have that were there before this one. */
  readonly earlierNodes: readonly NodeFingerprints[];
  /** False when this node may have missed a change: then no cached value counts. `now` as `performance.now()`. */
  isCacheValid(now: number): boolean;
}

/** How often a node writes its heartbeat; also the longest a lost notification goes unnoticed. */
const HEARTBEAT_MS = 2_000;
/** A node that could not reach the database for this long trusts none of its caches … */
const CACHE_VALID_MS = 5_000;
/** … and only well after that do others stop waiting for it. */
export const DEAD_SECONDS = 10;
/** What a change makes other parts do must not end the heartbeats. */
const LISTENERS_MS = 1_000;
const CHANNEL = "tollgate_change";

export interface ClusterOptions {
  log: Pick<Log, "warn">;
  configVersion: () => string;
  currency: () => string;
  hostId: string;
  queue: string;
  fingerprints: () => NodeFingerprints;
  /** Repeats a step that the database could not serve; left out, it is tried once. */
  withRetry?: <T>(step: () => Promise<T>) => Promise<T>;
}

/** The embedded database has one node, which makes every change itself. */
class SingleNode implements Cluster {
  readonly nodeId = newId("node");
  readonly peers = [];
  readonly earlierNodes = [];
  readonly #listeners: Listener[] = [];

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  record(_sql: Queries, topic: Topic, subject: string): Promise<CacheVersion> {
    return Promise.resolve({ number: "0", topic, subject });
  }

  awaitPeers({ topic, subject }: CacheVersion): Promise<void> {
    for (const listener of this.#listeners) listener(topic, subject);
    return Promise.resolve();
  }

  /** There is no other node. */
  announce(): void {}

  onAnnouncement(): void {}

  isCacheValid(): boolean {
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Changes are rows that every node reads in order; NOTIFY only says that there are new ones. */
class PostgresCluster implements Cluster {
  readonly nodeId = newId("node");
  readonly #listeners: Listener[] = [];
  #peers: readonly Peer[] = [];
  #storedVersion: string | null = null;
  #seen = 0n;
  #cacheValidUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #beating: Promise<void> | undefined;
  #mustRepeat = false;
  #isClosed = false;
  #listening: { unlisten(): Promise<void> } | undefined;
  readonly #announcements: Announcements;

  constructor(private readonly sql: Sql, private readonly options: ClusterOptions) {
    this.#announcements = new Announcements(sql);
  }

  async open(): Promise<this> {
    // Nothing is cached yet, so every change up to now counts as seen.
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
      () => void this.#heartbeat(),
      () => void this.#heartbeat(),
    );
    await this.#announcements.open();
    await this.#heartbeat();
    return this;
  }

  announce(subject: string): void {
    if (this.#peers.length > 0) this.#announcements.send(subject);
  }

  onAnnouncement(listener: (subject: string) => void): void {
    this.#announcements.onReceived(listener);
  }

  get peers(): readonly Peer[] {
    return this.#peers;
  }

  get earlierNodes(): readonly NodeFingerprints[] {
    return this.#peers.flatMap(({ startedEarlier, fingerprints }) =>
      startedEarlier && fingerprints !== null ? [fingerprints] : []
    );
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

  async awaitPeers({ number }: CacheVersion): Promise<void> {
    await this.#heartbeat();
    const giveUpAt = performance.now() + (DEAD_SECONDS + 5) * 1000;
    while (performance.now() < giveUpAt) {
      const [row] = await this.sql<[{ behind: number }]>`
        select count(*)::int as behind from node
         where seen_change < ${number}::bigint
           and seen_at > now() - make_interval(secs => ${DEAD_SECONDS})`;
      if (row.behind === 0) return;
      await sleep(10);
    }
  }

  isCacheValid(now: number): boolean {
    return now < this.#cacheValidUntil;
  }

  /** Reads new changes, applies them, and writes how far this node is. One at a time; a call during one repeats it. */
  #heartbeat(): Promise<void> {
    if (this.#beating !== undefined) {
      this.#mustRepeat = true;
      return this.#beating.then(() => this.#beating);
    }
    this.#beating = this.#run().finally(() => {
      this.#beating = undefined;
      if (this.#mustRepeat && !this.#isClosed) {
        this.#mustRepeat = false;
        this.#beating = this.#heartbeat();
      }
    });
    return this.#beating;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    const startedAt = performance.now();
    try {
      const rows = await this.sql<{ number: string; topic: Topic; subject: string }[]>`
        select number, topic, subject from change where number > ${
        String(this.#seen)
      }::bigint order by number`;
      const steps: (void | Promise<void>)[] = [];
      for (const { number, topic, subject } of rows) {
        for (const listener of this.#listeners) steps.push(listener(topic, subject));
        this.#seen = BigInt(number);
      }
      await withTimeout(Promise.allSettled(steps), LISTENERS_MS, () => undefined);
      await this.#syncPeers();
      this.#cacheValidUntil = startedAt + CACHE_VALID_MS;
    } catch (error) {
      if (!this.#isClosed) this.options.log.warn("node heartbeat failed", { error });
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#heartbeat(), HEARTBEAT_MS);
  }

  /** Writes that this node is alive and what it serves, and reads the same of the others. */
  async #syncPeers(): Promise<void> {
    const { hostId, queue } = this.options;
    const fingerprints = JSON.stringify(this.options.fingerprints());
    const version = this.options.configVersion();
    if (version !== this.#storedVersion) {
      await this
        .sql`insert into config_activation (version) values (${version}) on conflict do nothing`;
    }
    const peers = await this.sql<Peer[]>`
      with me as (
        insert into node (id, seen_at, seen_change, config_version, currency, host_id, queue, fingerprints)
        values (${this.nodeId}, now(), ${String(this.#seen)}::bigint, ${version},
                ${this.options.currency()}, ${hostId}, ${queue}, ${fingerprints}::text::jsonb)
        on conflict (id) do update set seen_at = excluded.seen_at, seen_change = excluded.seen_change,
          config_version = excluded.config_version, host_id = excluded.host_id, queue = excluded.queue,
          fingerprints = excluded.fingerprints)
      select id, host_id as "hostId", queue, node.config_version as "configVersion",
             coalesce(theirs.activated_at > mine.activated_at, false) as "isAhead", fingerprints,
             coalesce((started_at, id) < (select started_at, id from node where id = ${this.nodeId}), false)
               as "startedEarlier"
        from node
        left join config_activation theirs on theirs.version = node.config_version
        left join config_activation mine on mine.version = ${version}
       where id <> ${this.nodeId} and seen_at > now() - make_interval(secs => ${DEAD_SECONDS})
       order by started_at, id`;
    this.#storedVersion = version;
    const [wasBehind, isBehindNow] = [isBehind(this.#peers), isBehind(peers)];
    this.#peers = peers;
    if (isBehindNow && !wasBehind) {
      this.options.log.warn("this node runs an older configuration than its peers", {
        config_version: version,
        newer: [...new Set(peers.filter((peer) => peer.isAhead).map((peer) => peer.configVersion))],
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#beating;
    clearTimeout(this.#timer);
    // Peers stop waiting for a node whose row stays: its heartbeats end.
    await this.#listening?.unlisten().catch(ignoreStorageUnavailable);
    await this.#announcements[Symbol.asyncDispose]();
    await this.sql`delete from node where id = ${this.nodeId}`.catch(ignoreStorageUnavailable);
  }
}

/** Whether a node that sees these peers serves an older configuration than one of them. */
export function isBehind(peers: readonly Peer[]): boolean {
  return peers.some(({ isAhead }) => isAhead);
}

export async function joinCluster(database: Database, options: ClusterOptions): Promise<Cluster> {
  if (database.kind === "embedded") return new SingleNode();
  const cluster = new PostgresCluster(database.sql, options);
  const { withRetry = (step) => step() } = options;
  return await withRetry(() => cluster.open());
}
