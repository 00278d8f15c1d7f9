import { parentPort } from "node:worker_threads";

export type ToWorker =
  | { input: unknown }
  | { question: number; answer: unknown }
  | { question: number; error: string };

export type FromWorker =
  | { loaded: true }
  | { result: unknown }
  | { error: unknown }
  | { question: number; value: unknown };

/** Asks the main thread for something that the job needs. */
export type Ask = (value: unknown) => Promise<unknown>;

export interface Finished<Output> {
  output: Output;
  /** Buffers in `output` that move to the main thread instead of being copied. */
  transfer?: readonly ArrayBuffer[];
}

/** The worker's half of a `WorkerPool`: does one job after another, for as long as the pool lets it live. */
export function serveJobs<Input, Output>(
  work: (input: Input, ask: Ask) => Promise<Finished<Output>>,
): void {
  // What a parser prints about bytes from outside does not belong into the gateway's log.
  for (const level of ["debug", "log", "info", "warn", "error"] as const) console[level] = () => {};
  const tell = (message: FromWorker, transfer: readonly ArrayBuffer[] = []) =>
    parentPort!.postMessage(message, [...transfer]);
  let asked = 0;
  const questions = new Map<number, PromiseWithResolvers<unknown>>();
  const ask: Ask = (value) => {
    const answer = Promise.withResolvers<unknown>();
    questions.set(++asked, answer);
    tell({ question: asked, value });
    return answer.promise;
  };
  async function run(input: Input): Promise<void> {
    try {
      const { output, transfer } = await work(input, ask);
      tell({ result: output }, transfer);
    } catch (error) {
      tell({ error: error instanceof Error ? error : new Error(String(error)) });
    }
    questions.clear();
  }
  parentPort!.on("message", (message: ToWorker) => {
    if ("input" in message) void run(message.input as Input);
    else {
      const question = questions.get(message.question);
      questions.delete(message.question);
      if ("error" in message) question?.reject(new Error(message.error));
      else question?.resolve(message.answer);
    }
  });
  tell({ loaded: true });
}
