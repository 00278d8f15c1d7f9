interface Round {
  readonly calls: Set<() => void>;
  readonly timer: ReturnType<typeof setInterval>;
}

const rounds = new Map<number, Round>();

/**
 * Calls at a pace until the returned function is called. All calls of one pace share a timer: a timer
 * for each of many short things costs more than they look for.
 */
export function sharedInterval(paceMs: number, call: () => void): () => void {
  let round = rounds.get(paceMs);
  if (round === undefined) {
    const calls = new Set<() => void>();
    const timer = setInterval(() => {
      for (const call of calls) call();
    }, paceMs);
    rounds.set(paceMs, round = { calls, timer });
  }
  const { calls, timer } = round;
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    clearInterval(timer);
    rounds.delete(paceMs);
  };
}
