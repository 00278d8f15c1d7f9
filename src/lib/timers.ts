import type { Awaitable } from "./awaitable.ts";

/** Resolves after `ms`. Rejects with the signal's reason when that aborts before. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal?.aborted) {
    reject(signal.reason);
    return promise;
  }
  const onAbort = () => {
    clearTimeout(timer);
    reject(signal!.reason);
  };
  const timer = setTimeout(() => {
    signal?.removeEventListener("abort", onAbort);
    resolve();
  }, ms);
  signal?.addEventListener("abort", onAbort, { once: true });
  return promise;
}

/**
 * The result of `work`, or of `onTimeout` when `work` takes longer than `ms`; `onTimeout` may throw. A timeout does
 * not stop `work`: the caller does that, if it can be stopped. What `work` results in after that is ignored.
 */
export async function withTimeout<T, Late>(
  work: PromiseLike<T>,
  ms: number,
  onTimeout: () => Late,
): Promise<T | Late> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<Late>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(onTimeout());
      } catch (error) {
        reject(error);
      }
    }, ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export interface PeriodicOptions {
  intervalMs: number;
  /** Receives what a round throws. What `onError` itself throws becomes an unhandled rejection. */
  onError(error: unknown): void;
  /** Whether the first round begins at once, not after `intervalMs`. */
  startsAtOnce?: boolean;
  /** Whether the loop alone keeps the process running; it does not by default. */
  keepsProcessAlive?: boolean;
}

/** A running loop. `dispose` stops it; `asyncDispose` also waits for the round that runs. */
export type Periodic = Disposable & AsyncDisposable;

/**
 * Calls `round` again and again until disposed. Each round begins `intervalMs` after the end of the previous
 * one: rounds never overlap. A round that throws does not end the loop; `onError` gets the error. After disposal
 * errors are dropped: what the round works with may be closed already.
 */
export function periodic(
  round: () => Awaitable<unknown>,
  { intervalMs, onError, startsAtOnce = false, keepsProcessAlive = false }: PeriodicOptions,
): Periodic {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();
  let isDisposed = false;

  async function run(): Promise<void> {
    try {
      await round();
    } catch (error) {
      if (!isDisposed) reportTo(onError, error);
    }
    if (!isDisposed) schedule();
  }
  function schedule(): void {
    timer = setTimeout(() => running = run(), intervalMs);
    if (!keepsProcessAlive) Deno.unrefTimer(timer as unknown as number);
  }
  function stop(): void {
    isDisposed = true;
    clearTimeout(timer);
  }

  if (startsAtOnce) running = run();
  else schedule();
  return {
    [Symbol.dispose]: stop,
    async [Symbol.asyncDispose]() {
      stop();
      await running;
    },
  };
}

/** The `onError` of rounds that must not throw: an error in one is a defect, and becomes an unhandled rejection. */
export function rethrow(error: unknown): never {
  throw error;
}

function reportTo(onError: (error: unknown) => void, error: unknown): void {
  try {
    onError(error);
  } catch (unexpected) {
    Promise.reject(unexpected);
  }
}
