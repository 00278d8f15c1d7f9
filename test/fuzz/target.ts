import type { Random } from "./random.ts";

/**
 * One thing that reads input from outside. It is the default export of `test/fuzz/targets/<name>.ts`; its
 * kept inputs are the files in `test/fuzz/corpus/<name>/`.
 */
export interface FuzzTarget {
  /** The next input to try. `corpus` holds the kept inputs and the `seeds`, and is never empty. */
  generate(random: Random, corpus: readonly Uint8Array[]): Uint8Array;
  /** Throws where the promise of the target is broken. A rejected input is not a failure. */
  run(input: Uint8Array): void | Promise<void>;
  /** Inputs that are made rather than kept, such as samples of media files. */
  seeds?(): Promise<Uint8Array[]>;
  /** Opened once, in the thread that runs the inputs, before the first of them. */
  setup?(): Promise<AsyncDisposable>;
  /** An input that takes longer is a failure. 5 s unless stated. */
  timeoutMs?: number;
}
