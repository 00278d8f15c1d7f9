import { periodic, rethrow } from "./timers.ts";

export interface ClockWatchOptions {
  /** The system clock was moved by `ms` against the monotonic one; back where negative. */
  onMoved(ms: number): void;
  everyMs?: number;
  /** Smaller differences occur on any machine. */
  toleranceMs?: number;
  wall?: () => number;
  steady?: () => number;
}

const EVERY_MS = 5_000;
const TOLERANCE_MS = 200;

/** Compares the system clock with the monotonic one at an interval, until disposed. */
export function watchClock(options: ClockWatchOptions): Disposable {
  const { onMoved, everyMs = EVERY_MS, toleranceMs = TOLERANCE_MS } = options;
  const { wall = () => Date.now(), steady = () => performance.now() } = options;
  let offset = wall() - steady();
  return periodic(() => {
    const moved = wall() - steady() - offset;
    if (Math.abs(moved) < toleranceMs) return;
    offset += moved;
    onMoved(Math.round(moved));
  }, { intervalMs: everyMs, onError: rethrow });
}
