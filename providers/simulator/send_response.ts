import { NotSent } from "../../src/upstream/adapter.ts";
import type { BodyPart, ResponsePlan } from "./plan_response.ts";

/** How requests ended. Each that started is finished, whatever its response, or cancelled by its caller. */
export interface Counters {
  started: number;
  finished: number;
  cancelled: number;
}

/** The connection broke, as a directive says. */
export class ConnectionBroken extends TypeError {}

/** The request was read, and its connection is to be closed without a response. */
export class ConnectionClosed extends ConnectionBroken {}

/** `signal` is the caller's; null where only cancelling the body can end the request. */
export async function sendResponse(
  plan: ResponsePlan,
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
    throw new NotSent("The simulator refused the connection, as a directive says.");
  }
  if (ending === "no_answer") {
    counters.finished++;
    throw new ConnectionClosed("The simulator closed the connection, as a directive says.");
  }
  if (ending === "close" && parts.length === 1 && parts[0]!.pauseMs === 0) {
    counters.finished++;
    return new Response(parts[0]!.bytes, { status, headers });
  }
  return new Response(bodyOf(plan, signal, counters), { status, headers });
}

function bodyOf(
  plan: ResponsePlan,
  signal: AbortSignal | null,
  counters: Counters,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const sleep = new Sleep(signal);
  // Pauses count from here: the time the reader takes does not add to them.
  let dueMs = performance.now();
  let at = 0;
  let hasEnded = false;
  let onAbort = () => {};

  function end(how: "finished" | "cancelled"): void {
    hasEnded = true;
    counters[how]++;
    signal?.removeEventListener("abort", onAbort);
  }

  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      onAbort = () => {
        end("cancelled");
        controller.error(signal!.reason);
      };
      signal?.addEventListener("abort", onAbort);
    },
    pull(controller) {
      const part = partAt(plan, at++);
      if (part === null) return finish(controller);
      if (part.pauseMs > 0) {
        return sleep.until(dueMs += part.pauseMs).then(() => {
          if (!hasEnded) controller.enqueue(part.bytes);
        });
      }
      controller.enqueue(part.bytes);
      // Closes with the last bytes, without another pull.
      if (at === plan.parts.length && plan.ending === "close") return finish(controller);
    },
    cancel() {
      if (!hasEnded) end("cancelled");
      sleep.wake();
    },
  });

  function finish(controller: ReadableStreamDefaultController): void | Promise<void> {
    if (plan.ending === "silence") return sleep.until(Infinity);
    end("finished");
    if (plan.ending === "close") controller.close();
    else {controller.error(
        new ConnectionBroken("The simulator broke the connection, as a directive says."),
      );}
  }
}

function partAt({ parts, ending }: ResponsePlan, at: number): BodyPart | null {
  if (at < parts.length) return parts[at]!;
  return typeof ending === "object"
    ? ending.again[(at - parts.length) % ending.again.length]!
    : null;
}

/** Pauses that end early when the caller aborts. */
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
