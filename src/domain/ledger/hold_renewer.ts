import type { Queries } from "../../platform/database/database.ts";

/** How long a hold outlives the process that renews it. */
export const LEASE_SECONDS = 60;
/** What is resolved sooner than this is never renewed, and costs no statement more. */
const RENEW_MS = 20_000;

interface Living {
  renewAt: number;
  /** Nobody renews for ever what nobody resolves. */
  endsAt: number;
}

/**
 * Holds of requests that this process is answering. Each is for a short while and is renewed with all others
 * in one statement now and then: what a process that died leaves behind is free again soon.
 */
export class HoldRenewer {
  readonly #holds = new Map<string, Living>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  get size(): number {
    return this.#holds.size;
  }

  add(id: string, ttlSeconds: number): void {
    const now = this.now();
    this.#holds.set(id, { renewAt: now + RENEW_MS, endsAt: now + ttlSeconds * 1000 });
  }

  delete(id: string): void {
    this.#holds.delete(id);
  }

  async renew(sql: Queries): Promise<void> {
    const now = this.now();
    const due: string[] = [];
    for (const [id, { renewAt, endsAt }] of this.#holds) {
      if (endsAt <= now) this.#holds.delete(id);
      else if (renewAt <= now) due.push(id);
    }
    if (due.length === 0) return;
    // Whoever resolves or notes locks several: waiting for one of them, we might each wait for the other.
    const renewed = await sql<{ id: string }[]>`
      with ours as (
        select id from hold where id = any (${due}) and state = 'open' for no key update skip locked)
      update hold h
         set expires_at = greatest(h.expires_at, ledger_now() + make_interval(secs => ${LEASE_SECONDS}))
        from ours where h.id = ours.id
      returning h.id`;
    for (const { id } of renewed) {
      const living = this.#holds.get(id);
      if (living !== undefined) living.renewAt = now + RENEW_MS;
    }
  }
}
