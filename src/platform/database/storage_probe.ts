import type { Queries } from "./database.ts";
import { ConnectionError } from "./storage_error.ts";
import { withTimeout } from "../../lib/timers.ts";
import type { Log } from "../telemetry/log.ts";

export interface ProbeOptions {
  /** The row of the table `node` that is written: this node's own. */
  row: string;
  log: Pick<Log, "info" | "warn">;
  /** How long a result is cached. */
  freshMs?: number;
  /** No response within this time counts as a failure. */
  patienceMs?: number;
  /** How long the storage counts as failing after a request failed because of it. */
  memoryMs?: number;
}

/**
 * Whether the storage can write and read a row, for `/readyz`. A server that is read-only or out of
 * disk still answers `select 1`. Concurrent calls share one query.
 */
export class StorageProbe {
  #answer: { reason: Promise<string | null>; until: number } | null = null;
  #trouble: { reason: string; until: number } | null = null;
  #wasReady = true;

  constructor(private readonly sql: Queries, private readonly options: ProbeOptions) {}

  /** Null if the storage works; otherwise the reason, which may be public. */
  async check(): Promise<string | null> {
    const now = performance.now();
    if (this.#answer === null || now >= this.#answer.until) {
      this.#answer = { reason: this.#try(), until: now + (this.options.freshMs ?? 1_000) };
    }
    const reason = await this.#answer.reason ?? this.#troubleNow();
    if (reason === null && !this.#wasReady) {
      this.#wasReady = true;
      this.options.log.info("database ready again");
    }
    return reason;
  }

  /**
   * Records an error of a request. An existing row can often be written on a full disk, so
   * errors of requests count as well.
   */
  recordFailure(error: unknown): void {
    const reason = troubleOf(error);
    if (reason === null) return;
    this.#trouble = { reason, until: performance.now() + (this.options.memoryMs ?? 5_000) };
    this.#tellOnce(error);
  }

  #troubleNow(): string | null {
    return this.#trouble !== null && performance.now() < this.#trouble.until
      ? this.#trouble.reason
      : null;
  }

  /** The endpoint is public, so the details are in the log; once, not with every probe. */
  #tellOnce(error: unknown): void {
    if (this.#wasReady) this.options.log.warn("database not ready", { error });
    this.#wasReady = false;
  }

  async #try(): Promise<string | null> {
    const { row, patienceMs = 2_000 } = this.options;
    try {
      await withTimeout(this.#writeRow(row), patienceMs, () => {
        throw new ConnectionError("CONNECT_TIMEOUT", "The database does not answer");
      });
      return null;
    } catch (error) {
      this.#tellOnce(error);
      return troubleOf(error) ?? "the database does not answer";
    }
  }

  /** A row that is inserted here counts as a node that was never seen: other nodes do not wait for it. */
  async #writeRow(row: string): Promise<void> {
    await this.sql`
      insert into node (id, seen_at) values (${row}, '-infinity')
      on conflict (id) do update set host_id = node.host_id returning id`;
  }
}

/** An error of the whole storage, not of one row in it. */
function troubleOf(error: unknown): string | null {
  const code = String((error as { code?: unknown } | null | undefined)?.code);
  if (code === "25006") return "the database is read-only";
  if (code === "53100") return "the database's disk is full";
  if (code.startsWith("53")) return "the database is out of resources";
  if (/^58...$/.test(code)) return "the database has trouble with its files";
  return null;
}
