import { createHash } from "node:crypto";
import { newSecret } from "../../lib/ids.ts";
import type { Clock } from "../../lib/clock.ts";
import { periodic } from "../../lib/timers.ts";
import { ignoreStorageUnavailable } from "../../platform/database/storage_error.ts";

/** A signed-in browser. Times are milliseconds since 1970. */
export interface Session {
  /** SHA-256 of the browser's token; the session's id here. */
  readonly hash: string;
  readonly person: string;
  /** The person's `sessionEpoch` when it began. */
  readonly epoch: number;
  /** Browser and system, for the list of sessions. */
  readonly device: string;
  readonly createdAt: number;
  readonly seenAt: number;
}

/** Stores sessions. `Sessions` checks expiry; a store may expire entries late or not at all. */
export interface SessionStore {
  put(session: Session): Promise<void>;
  find(hash: string): Promise<Session | null>;
  /** Records when it was last seen; does not create a session that has ended. */
  touch(session: Session, seenAt: number): Promise<void>;
  remove(session: Pick<Session, "hash" | "person">): Promise<void>;
  list(person: string): Promise<Session[]>;
  /** Deletes sessions that began or were seen before these times. */
  sweep(createdBefore: number, seenBefore: number): Promise<void>;
}

const DAY_MS = 86_400_000;
/** A session ends when it was not used for this long … */
export const IDLE_MS = 7 * DAY_MS;
/** … and in any case after this. */
export const SESSION_MS = 30 * DAY_MS;
/** Minimum time between two updates of the last-seen time. */
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

  /** Starts a session and returns the id for the browser. Always a new id, never one that the browser sent. */
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

  /** Ends all sessions of a person, or all others. Returns how many. */
  async endAll(person: string, except?: string): Promise<number> {
    const ended = (await this.store.list(person)).filter(({ hash }) => hash !== except);
    for (const session of ended) await this.store.remove(session);
    return ended.length;
  }

  /** Active sessions, the last seen first. */
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

/** A token that allows one action to be started by a link, where a form cannot be used. */
export function addressToken(id: string, purpose: string): string {
  return createHash("sha256").update(`address:${purpose}:${id}`).digest("base64url");
}

function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("base64url");
}

function isAlive(session: Session, now: number): boolean {
  return now - session.createdAt < SESSION_MS && now - session.seenAt < IDLE_MS;
}
