import { withTimeout } from "../lib/timers.ts";

/** A busy thread does not answer in time; then its last metrics count. */
const ANSWER_MS = 1_000;

export interface WorkerMetricsOptions {
  /** Merges the metrics of exited threads into one set. */
  keep(collected: readonly unknown[]): Promise<unknown>;
  answerMs?: number;
}

interface ThreadMetrics {
  last: unknown;
  /** Pending while the thread's answer is awaited. */
  answer: PromiseWithResolvers<void> | null;
}

/** Collects the metrics of all threads for one that asks. A thread that does not answer delays the others briefly. */
export class WorkerMetrics<Thread> {
  readonly #threads = new Map<Thread, ThreadMetrics>();
  /** The merged metrics of exited threads; empty before the first exit. */
  #exited: Promise<readonly unknown[]> = Promise.resolve([]);

  constructor(private readonly options: WorkerMetricsOptions) {}

  add(thread: Thread): void {
    this.#threads.set(thread, { last: undefined, answer: null });
  }

  /** The thread has exited; its last metrics are kept. */
  remove(thread: Thread): void {
    const metrics = this.#threads.get(thread);
    if (metrics === undefined) return;
    const { last, answer } = metrics;
    this.#threads.delete(thread);
    answer?.resolve();
    if (last === undefined) return;
    const { keep } = this.options;
    this.#exited = this.#exited.then(async (exited) => [await keep([...exited, last])]);
  }

  receive(thread: Thread, collected: unknown): void {
    const metrics = this.#threads.get(thread);
    if (metrics === undefined) return;
    metrics.last = collected;
    metrics.answer?.resolve();
    metrics.answer = null;
  }

  /** Requests the metrics of every thread but `asker`; returns those of all threads, exited ones included. */
  async collect(asker: Thread, request: (thread: Thread) => void): Promise<unknown[]> {
    const answers: Promise<void>[] = [];
    for (const [thread, metrics] of this.#threads) {
      if (thread === asker) continue;
      if (metrics.answer === null) {
        metrics.answer = Promise.withResolvers();
        request(thread);
      }
      answers.push(metrics.answer.promise);
    }
    await withTimeout(Promise.all(answers), this.options.answerMs ?? ANSWER_MS, () => undefined);
    const current = [...this.#threads.values()].flatMap(({ last }) =>
      last === undefined ? [] : [last]
    );
    return [...await this.#exited, ...current];
  }
}
