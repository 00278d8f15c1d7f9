import { withTimeout } from "../lib/timers.ts";

/** A thread that was asked may be busy; then what it said last must do. */
const PATIENCE_MS = 1_000;

export interface WorkerMetricsOptions {
  /** Makes one answer of those of threads that are gone. */
  keep(said: readonly unknown[]): Promise<unknown>;
  patienceMs?: number;
}

interface Asked {
  said: unknown;
  /** While its answer is awaited. */
  answer: PromiseWithResolvers<void> | null;
}

/** What the threads of a crew have to say, gathered for one of them. Nobody waits for a silent one. */
export class WorkerMetrics<Thread> {
  readonly #asked = new Map<Thread, Asked>();
  /** One answer for all that are gone; none while nobody is. */
  #former: Promise<readonly unknown[]> = Promise.resolve([]);

  constructor(private readonly options: WorkerMetricsOptions) {}

  add(thread: Thread): void {
    this.#asked.set(thread, { said: undefined, answer: null });
  }

  /** It is gone, and what it said last is kept. */
  remove(thread: Thread): void {
    const asked = this.#asked.get(thread);
    if (asked === undefined) return;
    const { said, answer } = asked;
    this.#asked.delete(thread);
    answer?.resolve();
    if (said === undefined) return;
    const { keep } = this.options;
    this.#former = this.#former.then(async (former) => [await keep([...former, said])]);
  }

  hear(thread: Thread, said: unknown): void {
    const asked = this.#asked.get(thread);
    if (asked === undefined) return;
    asked.said = said;
    asked.answer?.resolve();
    asked.answer = null;
  }

  /** Asks everybody but `asker`; the result is what all have said, with those who are gone. */
  async gather(asker: Thread, ask: (thread: Thread) => void): Promise<unknown[]> {
    const answers: Promise<void>[] = [];
    for (const [thread, asked] of this.#asked) {
      if (thread === asker) continue;
      if (asked.answer === null) {
        asked.answer = Promise.withResolvers();
        ask(thread);
      }
      answers.push(asked.answer.promise);
    }
    await withTimeout(
      Promise.all(answers),
      this.options.patienceMs ?? PATIENCE_MS,
      () => undefined,
    );
    const said = [...this.#asked.values()].flatMap(({ said }) => said === undefined ? [] : [said]);
    return [...await this.#former, ...said];
  }
}
