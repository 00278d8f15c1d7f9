import type { Log } from "../platform/telemetry/log.ts";

/**
 * A rejection that nobody handles is a mistake of ours in one place. It is told loudly, and does not take
 * every stream and task of this process along. An exception that nobody catches still ends the process.
 */
export function logUnhandledRejections(log: Pick<Log, "error">): Disposable {
  const onRejection = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    log.error("a rejection was not handled: please report this", { error: event.reason });
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  return {
    [Symbol.dispose]: () => globalThis.removeEventListener("unhandledrejection", onRejection),
  };
}
