export interface ReserveTiming {
  leaseMs: number;
  /** Also how soon a node learns of a recall whose notification was lost. */
  renewMs: number;
  /** A node stops drawing so long before its lease could have ended. */
  marginMs: number;
  /** A reserve that nothing was drawn from for so long is returned. */
  idleMs: number;
  /** Requests that last so long are counted as drawn in the database. */
  toldMs: number;
  /** Requests that last so long get a hold of their own. */
  moveMs: number;
  /** After a recall requests are held one by one for so long. */
  recallMs: number;
  tickMs: number;
  /** So many requests within two seconds are worth a reserve: fewer cost less than its renewals. */
  requestsMin: number;
}

export const RESERVE_TIMING: ReserveTiming = {
  leaseMs: 6_000,
  renewMs: 1_000,
  marginMs: 500,
  idleMs: 2_000,
  toldMs: 1_000,
  moveMs: 3_000,
  recallMs: 2_000,
  tickMs: 250,
  requestsMin: 8,
};
