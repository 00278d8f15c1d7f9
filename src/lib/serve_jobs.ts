import { frameOf, messagesIn } from "./frames.ts";

export type ToJobProcess =
  | { input: unknown }
  | { question: number; answer: unknown }
  | { question: number; error: string };

export type FromJobProcess =
  | { loaded: true }
  | { result: unknown }
  | { error: unknown }
  | { question: number; value: unknown };

/** Asks the gateway's process for something that the job needs. */
export type JobRequest = (value: unknown) => Promise<unknown>;

/**
 * The worker's half of a `ProcessPool`: does one job after another, for as long as the pool lets it live. It
 * ends when the gateway does, whose end closes its input.
 */
export async function serveJobs<Input, Output>(
  work: (input: Input, ask: JobRequest) => Promise<Output>,
): Promise<void> {
  // What a parser prints about bytes from outside belongs neither into a log nor among the messages.
  for (const level of ["debug", "log", "info", "warn", "error"] as const) console[level] = () => {};
  const writer = Deno.stdout.writable.getWriter();
  // A write fails when the parent process is gone.
  const tell = (message: FromJobProcess) =>
    void writer.write(frameOf(message)).catch(() => Deno.exit());
  let asked = 0;
  const questions = new Map<number, PromiseWithResolvers<unknown>>();
  const ask: JobRequest = (value) => {
    const answer = Promise.withResolvers<unknown>();
    questions.set(++asked, answer);
    tell({ question: asked, value });
    return answer.promise;
  };
  async function run(input: Input): Promise<void> {
    try {
      tell({ result: await work(input, ask) });
    } catch (error) {
      tell({ error: error instanceof Error ? error : new Error(String(error)) });
    }
    questions.clear();
  }
  tell({ loaded: true });
  for await (const received of messagesIn(Deno.stdin.readable)) {
    const message = received as ToJobProcess;
    if ("input" in message) void run(message.input as Input);
    else {
      const question = questions.get(message.question);
      questions.delete(message.question);
      if ("error" in message) question?.reject(new Error(message.error));
      else question?.resolve(message.answer);
    }
  }
  // Also in the middle of a job: nothing waits for its result any more.
  Deno.exit();
}
