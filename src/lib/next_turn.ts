import { setImmediate } from "node:timers";

let next: Promise<void> | null = null;

/** Resolves in the next turn of the event loop, for all that wait in this one. */
export function nextTurn(): Promise<void> {
  return next ??= new Promise((resolve) => {
    setImmediate(() => {
      next = null;
      resolve();
    });
  });
}
