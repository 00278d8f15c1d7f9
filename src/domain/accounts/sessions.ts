import { createHash } from "node:crypto";
import { newSecret } from "../../lib/ids.ts";
import type { Clock } from "../../lib/clock.ts";
import { periodic } from "../../lib/timers.ts";
import { ignoreStorageUnavailable } from "../../platform/database/storage_error.ts";

/** A signed-in browser. Times are milliseconds since 1970. */
export interface Session {
  /** SHA-256 of what the browser holds; the only name it has here. */
  readonly hash: string;
  readonly person: string;
  /** The person's `sessionEpoch` when it began. */
  readonly epoch: number;
  /** What the browser called itself, for people who look over their sessions. */
  readonly device: string;
  readonly createdAt: number;
  readonly seenAt: number;
}

/** Where sessions are kept. Expiry is not its business: stores forget late, if at all. */
export interface SessionStore {
  put(session: Session): Promise<void>;
  find(hash: string): Promise<Session | null>;
  /** Notes when it was last seen; a session that is gone stays gone. */
  touch(session: Session, seenAt: number): Promise<void>;
  remove(session: Pick<Session, "hash" | "person">): Promise<void>;
  list(person: string): Promise<Session[]>;
  /** Drops what began or was seen before these moments. */
  sweep(createdBefore: number, seenBefore: number): Promise<void>;
}

const DAY_MS = 86_400_000;
/** A session ends when nobody has used it for this long … */
export const IDLE_MS = 7 * DAY_MS;
/** … and in any case after this. */
export const SESSION_MS = 30 * DAY_MS;
/** Being seen is noted this often, not at every page. */
const TOUCH_MS = 5 * 60_000;
const SWEEP_MS = 60 * 60_000;

/** Sign-in sessions: begun, found, listed and ended. The browser's id is random and never stored. */
export class Sessions implements Disposable {
  readonly #sweeping: Disposable;

  constructor(private readonly store: SessionStore, private readonly clock: Clock) {
    this.#sweeping = periodic(() => this.sweep(), {
      intervalMs: SWEEP_MS,
      onError: ignoreStorageUnavailable,
    });
  }

  /** Starts a session and answers the id for the browser. Always a new one: none is ever adopted. */
  async begin(person: string, device: string, epoch = 0): Promise<string> {
    const id = newSecret();
    const now = this.clock.now();
    await this.store.put({
      hash: hashOf(id),
      person,
      epoch,
      device: device.slice(0, 200),
      createdAt: now,
      seenAt: now,
    });
    return id;
  }

  async find(id: string): Promise<Session | null> {
    const session = await this.store.find(hashOf(id));
    if (session === null) return null;
    const now = this.clock.now();
    if (!isAlive(session, now)) {
      await this.store.remove(session);
      return null;
    }
    if (now - session.seenAt > TOUCH_MS) await this.store.touch(session, now);
    return session;
  }

  end(session: Pick<Session, "hash" | "person">): Promise<void> {
    return this.store.remove(session);
  }

  /** Signs a person out everywhere, or everywhere else. Answers how many that were. */
  async endAll(person: string, except?: string): Promise<number> {
    const ended = (await this.store.list(person)).filter(({ hash }) => hash !== except);
    for (const session of ended) await this.store.remove(session);
    return ended.length;
  }

  /** Those that are alive, the last seen first. */
  async list(person: string): Promise<Session[]> {
    const now = this.clock.now();
    return (await this.store.list(person))
      .filter((session) => isAlive(session, now))
      .sort((a, b) => b.seenAt - a.seenAt);
  }

  async sweep(): Promise<void> {
    const now = this.clock.now();
    await this.store.sweep(now - SESSION_MS, now - IDLE_MS);
  }

  [Symbol.dispose](): void {
    this.#sweeping[Symbol.dispose]();
  }
}

/** The token of a session's forms: derived from its id, so another site cannot know it. */
export function formToken(id: string): string {
  return createHash("sha256").update(`form:${id}`).digest("base64url");
}

/** Allows one thing to be started by an address on a page of ours, where a form cannot be used. */
export function addressToken(id: string, purpose: string): string {
  return createHash("sha256").update(`address:${purpose}:${id}`).digest("base64url");
}

function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("base64url");
}

function isAlive(session: Session, now: number): boolean {
  return now - session.createdAt < SESSION_MS && now - session.seenAt < IDLE_MS;
}
