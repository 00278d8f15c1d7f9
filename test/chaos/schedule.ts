import { Random } from "../fuzz/random.ts";
import { type ChaosOptions, type FaultKind, LONG_PAUSE_MS } from "./options.ts";

/** One fault of the run's timeline. */
export interface ScheduledFault {
  atMs: number;
  kind: FaultKind;
  /** Which node, where it concerns one. */
  node: number;
  durationMs: number;
}

/** How often each kind comes, and how long it lasts at least and at most. */
const TIMED: Partial<Record<FaultKind, { weight: number; ms: [least: number, most: number] }>> = {
  kill: { weight: 7, ms: [0, 2_000] },
  stop: { weight: 1, ms: [0, 1_000] },
  pause: { weight: 2, ms: [1_000, 8_000] },
  cut: { weight: 4, ms: [0, 0] },
  freeze: { weight: 1, ms: [500, 14_000] },
  delay: { weight: 1, ms: [2_000, 6_000] },
  postgres: { weight: 2, ms: [100, 6_000] },
  upstream_close: { weight: 3, ms: [0, 0] },
};
const FIRST_MS = 2_000;
const QUIET_END_MS = 3_000;
const GAP_MS = 5_000;
/** One long pause in this time: what follows it must be seen too. */
const LONG_PAUSE_EVERY_MS = 180_000;

/** The timeline of a run: the same seed and options give the same one. */
export function planFaults({ seed, minutes, nodes, faults }: ChaosOptions): ScheduledFault[] {
  const random = new Random(seed);
  const endMs = minutes * 60_000 - QUIET_END_MS;
  const drawn = Object.entries(TIMED).flatMap(([kind, { weight }]) =>
    faults.has(kind as FaultKind) ? Array.from({ length: weight }, () => kind as FaultKind) : []
  );
  const planned: ScheduledFault[] = [];
  if (drawn.length > 0) {
    for (let atMs = FIRST_MS; atMs < endMs; atMs += 500 + random.below(GAP_MS)) {
      const kind = random.pick(drawn);
      const [least, most] = TIMED[kind]!.ms;
      const durationMs = least + random.below(most - least + 1);
      planned.push({ atMs, kind, node: random.below(nodes), durationMs });
    }
  }
  if (faults.has("long_pause")) {
    for (let atMs = 8_000; atMs + LONG_PAUSE_MS < endMs; atMs += LONG_PAUSE_EVERY_MS) {
      const node = random.below(nodes);
      planned.push({ atMs, kind: "long_pause", node, durationMs: LONG_PAUSE_MS });
    }
  }
  return planned.sort((a, b) => a.atMs - b.atMs);
}
