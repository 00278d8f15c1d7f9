import type { FailureKind } from "./failure.ts";

/** `abandoned`: the client disconnected, or the total time was over. */
export type AttemptOutcome = "ok" | "abandoned" | FailureKind;

/** What became of one attempt at an upstream, and how long it took. For operators. */
export class UpstreamAttempt {
  outcome: AttemptOutcome = "ok";
  durationMs = 0;
  /** Of a stream: how long its first byte took. */
  firstByteMs: number | null = null;
  /** As `performance.now()`. */
  readonly startedAt = performance.now();

  constructor(readonly provider: string, readonly model: string) {}

  /** A stream ends twice: with its first byte, which is the end of the attempt so far, and with its last. */
  end(outcome: AttemptOutcome): void {
    this.outcome = outcome;
    if (this.durationMs > 0) this.firstByteMs ??= this.durationMs;
    this.durationMs = performance.now() - this.startedAt;
  }
}

/** Takes the attempts of a request as they begin. */
export interface AttemptList {
  push(attempt: UpstreamAttempt): unknown;
}
