/** Time as a parameter, so that tests can set it. Money decisions use the database's clock instead. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
