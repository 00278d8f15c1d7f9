import { NotSent } from "../../src/upstream/adapter.ts";
import type { Part, Plan } from "./misbehave.ts";

/** How requests went: each that started finishes, whatever its answer was, or its caller leaves. */
export interface Counters {
  started: number;
  finished: number;
  cancelled: number;
}

/** What a caller sees of a connection that fails as ordered. */
export class BrokenConnection extends TypeError {}

/** The request was taken, and its connection is to be closed without an answer. */
export class NoAnswer extends BrokenConnection {}

/** Answers as planned. `signal` is the caller's; null where nobody but the body's reader can leave. */
export async function play(
  plan: Plan,
  signal: AbortSignal | null,
  counters: Counters,
): Promise<Response> {
  if (plan.delayMs > 0) await new Sleep(signal).until(performance.now() + plan.delayMs);
  if (signal?.aborted) {
    counters.cancelled++;
    throw signal.reason;
  }
  const { status, headers, parts, ending } = plan;
  if (ending === "refuse") {
    counters.finished++;
    throw new NotSent("The simulator refused the connection, as it was told to.");
  }
  if (ending === "no_answer") {
    counters.finished++;
    throw new NoAnswer("The simulator closed the connection, as it was told to.");
  }
  if (ending === "close" && parts.length === 1 && parts[0]!.pauseMs === 0) {
    counters.finished++;
    return new Response(parts[0]!.bytes, { status, headers });
  }
  return new Response(bodyOf(plan, signal, counters), { status, headers });
}

function bodyOf(
  plan: Plan,
  signal: AbortSignal | null,
  counters: Counters,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const sleep = new Sleep(signal);
  // Pauses are counted from here on: the time that reading takes does not add to them.
  let dueMs = performance.now();
  let at = 0;
  let isOver = false;
  let leave = () => {};

  function end(how: "finished" | "cancelled"): void {
    isOver = true;
    counters[how]++;
    signal?.removeEventListener("abort", leave);
  }

  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      leave = () => {
        end("cancelled");
        controller.error(signal!.reason);
      };
      signal?.addEventListener("abort", leave);
    },
    pull(controller) {
      const part = partAt(plan, at++);
      if (part === null) return finish(controller);
      if (part.pauseMs > 0) {
        return sleep.until(dueMs += part.pauseMs).then(() => {
          if (!isOver) controller.enqueue(part.bytes);
        });
      }
      controller.enqueue(part.bytes);
      // With the last bytes, the end: it need not be asked for.
      if (at === plan.parts.length && plan.ending === "close") return finish(controller);
    },
    cancel() {
      if (!isOver) end("cancelled");
      sleep.wake();
    },
  });

  function finish(controller: ReadableStreamDefaultController): void | Promise<void> {
    if (plan.ending === "silence") return sleep.until(Infinity);
    end("finished");
    if (plan.ending === "close") controller.close();
    else controller.error(new BrokenConnection("The simulator broke off, as it was told to."));
  }
}

function partAt({ parts, ending }: Plan, at: number): Part | null {
  if (at < parts.length) return parts[at]!;
  return typeof ending === "object"
    ? ending.again[(at - parts.length) % ending.again.length]!
    : null;
}

/** Waits that end early when the caller leaves. */
class Sleep {
  wake = () => {};
  readonly #signal: AbortSignal | null;

  constructor(signal: AbortSignal | null) {
    this.#signal = signal;
  }

  until(timeMs: number): Promise<void> {
    const ms = timeMs - performance.now();
    if (ms <= 0 || this.#signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(() => this.wake(), ms);
      this.wake = () => {
        clearTimeout(timer);
        this.#signal?.removeEventListener("abort", this.wake);
        resolve();
      };
      this.#signal?.addEventListener("abort", this.wake);
    });
  }
}
