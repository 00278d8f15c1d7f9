import type { Log } from "../platform/telemetry/log.ts";

/**
 * An unhandled rejection is a defect in one place. It is logged as an error and does not end every stream and task
 * of this process. An uncaught exception still ends the process.
 */
export function logUnhandledRejections(log: Pick<Log, "error">): Disposable {
  const onRejection = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    log.error("unhandled rejection, please report this", { error: event.reason });
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  return {
    [Symbol.dispose]: () => globalThis.removeEventListener("unhandledrejection", onRejection),
  };
}
