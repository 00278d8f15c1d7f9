/** Time that stands still until the test advances it. Holds for timers and `performance.now()`. */
export interface FakeTime extends Disposable {
  /** Runs the timers that become due, in their order, and what follows from them. */
  advance(ms: number): Promise<void>;
  /** How many timers wait. */
  readonly timers: number;
}

export function fakeTime(): FakeTime {
  const { setTimeout, clearTimeout } = globalThis;
  const realNow = performance.now;
  const timers = new Map<number, { at: number; run: () => void }>();
  let now = Math.ceil(realNow.call(performance));
  let ids = 1_000_000;
  Object.assign(globalThis, {
    setTimeout(run: () => void, ms = 0) {
      timers.set(++ids, { at: now + ms, run });
      return ids;
    },
    clearTimeout: (id: number) => void timers.delete(id),
  });
  performance.now = () => now;

  /** Lets promises settle that need no time. */
  const settle = () => new Promise<void>((resolve) => setTimeout(resolve));
  return {
    get timers() {
      return timers.size;
    },
    async advance(ms) {
      const until = now + ms;
      await settle();
      while (true) {
        const [next] = [...timers].filter(([, { at }]) => at <= until)
          .sort(([, a], [, b]) => a.at - b.at);
        if (next === undefined) break;
        const [id, { at, run }] = next;
        timers.delete(id);
        now = Math.max(now, at);
        run();
        await settle();
      }
      now = until;
    },
    [Symbol.dispose]() {
      Object.assign(globalThis, { setTimeout, clearTimeout });
      performance.now = realNow;
    },
  };
}
