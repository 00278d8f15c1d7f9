import type { Queries } from "../../platform/database/database.ts";

/** How long a hold outlives the process that renews it. */
export const LEASE_SECONDS = 60;
/** A hold that is resolved sooner than this is never renewed and costs no extra statement. */
const RENEW_MS = 20_000;

interface RenewedHold {
  renewAt: number;
  /** A hold that is never resolved is not renewed after this time. */
  endsAt: number;
}

/**
 * Holds of requests that this process is serving. Each has a short lease, renewed together with all others
 * in one statement: the holds of a process that died expire soon.
 */
export class HoldRenewer {
  readonly #holds = new Map<string, RenewedHold>();

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
    // Other transactions lock several holds at once; waiting for one of them could be a deadlock.
    const renewed = await sql<{ id: string }[]>`
      with ours as (
        select id from hold where id = any (${due}) for no key update skip locked)
      update hold h
         set expires_at = greatest(h.expires_at, ledger_now() + make_interval(secs => ${LEASE_SECONDS}))
        from ours where h.id = ours.id
      returning h.id`;
    for (const { id } of renewed) {
      const hold = this.#holds.get(id);
      if (hold !== undefined) hold.renewAt = now + RENEW_MS;
    }
  }
}
