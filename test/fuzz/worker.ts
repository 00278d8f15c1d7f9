/** Runs the inputs of one target, in a thread that the runner can end in the middle of a blocked loop. */
import { loadTarget } from "./corpus.ts";
import type { FuzzTarget } from "./target.ts";

export type ToWorker = { open: string } | { input: Uint8Array } | { close: true };
export type FromWorker = { done: true } | { failed: string };

const port = self as unknown as {
  onmessage: (event: MessageEvent<ToWorker>) => void;
  postMessage(message: FromWorker): void;
};

let target: FuzzTarget;
let opened: AsyncDisposable | undefined;

port.onmessage = async ({ data }) => {
  try {
    if ("open" in data) {
      target = await loadTarget(data.open);
      opened = await target.setup?.();
    } else if ("input" in data) {
      await target.run(data.input);
    } else {
      await opened?.[Symbol.asyncDispose]();
    }
    port.postMessage({ done: true });
  } catch (error) {
    port.postMessage({
      failed: error instanceof Error ? error.stack ?? error.message : `${error}`,
    });
  }
};
