import type { Sql } from "postgres";
import { ignoreStorageUnavailable } from "../database/storage_error.ts";

const CHANNEL = "tollgate_announcement";

/** Short messages to all nodes of a database, this one included. They are not stored: a lost one stays lost. */
export class Announcements implements AsyncDisposable {
  readonly #listeners: ((subject: string) => void)[] = [];
  #pending = new Set<string>();
  #sending: Promise<void> | null = null;
  #listening: { unlisten(): Promise<void> } | undefined;
  #isClosed = false;

  constructor(private readonly sql: Sql) {}

  async open(): Promise<void> {
    this.#listening ??= await this.sql.listen(CHANNEL, (subject) => {
      for (const listener of this.#listeners) listener(subject);
    });
  }

  onReceived(listener: (subject: string) => void): void {
    this.#listeners.push(listener);
  }

  /** One statement at a time; messages that come meanwhile share the next one. */
  send(subject: string): void {
    if (this.#isClosed) return;
    this.#pending.add(subject);
    this.#sending ??= this.#sendPending();
  }

  async #sendPending(): Promise<void> {
    while (this.#pending.size > 0) {
      const subjects = [...this.#pending];
      this.#pending = new Set();
      try {
        await this
          .sql`select pg_notify(${CHANNEL}, subject) from unnest(${subjects}::text[]) subject`;
      } catch {
        // Whatever the reason, such as a full queue of the server: those who wait also look by themselves.
      }
    }
    this.#sending = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#sending;
    await this.#listening?.unlisten().catch(ignoreStorageUnavailable);
  }
}
