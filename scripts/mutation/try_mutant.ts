import { applyMutant, type Mutant } from "./mutants.ts";
import type { Reach } from "./coverage.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Store } from "./store.ts";
import { hashText, type TestFile } from "./test_graph.ts";

export interface MeasuredTest extends TestFile {
  reach: Reach;
}

/** What became of a mutant. */
export interface Tried {
  mutant: Mutant;
  /** `partly`: it survived the tests that fit into the time for one mutant; slower ones reach it too. */
  state: "killed" | "survived" | "partly" | "not reached";
  killedBy?: string;
}

export interface Trial {
  tests: readonly MeasuredTest[];
  store: Store;
  rank: TestRank;
  /** Time for the tests of one mutant. */
  secondsMax: number;
}

/** Runs the tests that reach a mutant's line, the most promising first, until one fails. */
export async function tryMutant(
  sandbox: Sandbox,
  mutant: Mutant,
  { tests, store, rank, secondsMax }: Trial,
): Promise<Tried> {
  const reaching = tests.filter(({ reach }) => reach.lines[mutant.path]?.includes(mutant.line));
  if (reaching.length === 0) return { mutant, state: "not reached" };
  const original = await Deno.readTextFile(`${sandbox.root}/${mutant.path}`);
  const text = applyMutant(original, mutant);
  const key = await hashText(`${mutant.path}\n${text}`);
  let seconds = 0;
  let isPartly = false;
  for (const { path, hash, reach } of rank.sort(mutant.path, reaching)) {
    let outcome = store.outcomeOf(key, hash);
    if (outcome === null) {
      if (seconds > 0 && seconds + reach.seconds > secondsMax) {
        isPartly = true;
        continue;
      }
      seconds += reach.seconds;
      const changed = { path: mutant.path, text };
      // An endless loop counts as killed: it would be noticed.
      const timeoutMs = 10_000 + reach.seconds * 4000;
      outcome = (await sandbox.test({ file: path, timeoutMs, changed })).outcome;
      await store.keepOutcome(key, hash, outcome);
    }
    rank.note(mutant.path, path, outcome !== "passed");
    if (outcome !== "passed") return { mutant, state: "killed", killedBy: path };
  }
  return { mutant, state: isPartly ? "partly" : "survived" };
}

/** Puts first the tests that have killed most mutants of a file per second. */
export class TestRank {
  readonly #counts = new Map<string, { runs: number; kills: number }>();

  note(path: string, test: string, isKilled: boolean): void {
    const counts = this.#countsOf(path, test);
    counts.runs++;
    if (isKilled) counts.kills++;
  }

  sort(path: string, tests: readonly MeasuredTest[]): MeasuredTest[] {
    const costOf = (test: MeasuredTest) => {
      const { runs, kills } = this.#countsOf(path, test.path);
      return test.reach.seconds * (runs + 2) / (kills + 1);
    };
    return tests.toSorted((a, b) => costOf(a) - costOf(b));
  }

  #countsOf(path: string, test: string): { runs: number; kills: number } {
    const key = `${path} ${test}`;
    const counts = this.#counts.get(key) ?? { runs: 0, kills: 0 };
    this.#counts.set(key, counts);
    return counts;
  }
}
