interface SharedTimer {
  readonly calls: Set<() => void>;
  readonly timer: ReturnType<typeof setInterval>;
}

const timers = new Map<number, SharedTimer>();

/**
 * Calls at an interval until the returned function is called. All calls of one interval share a timer: a timer for
 * each stream would cost more than the check that it makes.
 */
export function sharedInterval(intervalMs: number, call: () => void): () => void {
  let shared = timers.get(intervalMs);
  if (shared === undefined) {
    const calls = new Set<() => void>();
    const timer = setInterval(() => {
      for (const call of calls) call();
    }, intervalMs);
    timers.set(intervalMs, shared = { calls, timer });
  }
  const { calls, timer } = shared;
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    clearInterval(timer);
    timers.delete(intervalMs);
  };
}
