export interface ReserveTiming {
  leaseMs: number;
  renewMs: number;
  /** A node stops drawing so long before its lease could have ended. */
  marginMs: number;
  /** A reserve that nothing was drawn from for so long is returned. */
  idleMs: number;
  /** Requests that last so long are counted as drawn in the database. */
  toldMs: number;
  /** After a recall requests are held one by one for so long. */
  recallMs: number;
  tickMs: number;
}

export const RESERVE_TIMING: ReserveTiming = {
  leaseMs: 6_000,
  renewMs: 2_000,
  marginMs: 500,
  idleMs: 2_000,
  toldMs: 1_000,
  recallMs: 2_000,
  tickMs: 250,
};
