import { ApiError } from "../lib/api_error.ts";
import { Slots } from "../lib/slots.ts";
import { accountOf, type HttpContext } from "./exchange.ts";

/** How many requests may wait for tasks at once, on one node. */
export interface WaitLimits {
  perKey: number;
  perAccount: number;
}

const LIMITS: WaitLimits = { perKey: 20, perAccount: 100 };
const RETRY_SECONDS = 5;

/** Limits requests that wait for tasks: each keeps a connection, and one account must not use all of them. */
export class TaskWaits {
  readonly #slots = new Slots();
  readonly #limits: WaitLimits;

  constructor(limits: Partial<WaitLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Takes a slot; call the result to release it. Throws when none is free. */
  take(c: HttpContext): () => void {
    const release = this.tryTake(c);
    if (release !== null) return release;
    const { perKey, perAccount } = this.#limits;
    throw new ApiError(
      "concurrency_limit_exceeded",
      `Too many requests wait for tasks: the limit is ${perKey} per API key and ${perAccount} per account. ` +
        "Close one, poll GET /v1/tasks/{task_id} or use a webhook.",
      { retryAfterSeconds: RETRY_SECONDS },
    );
  }

  /** Like `take`, but returns null when none is free. */
  tryTake(c: HttpContext): (() => void) | null {
    const { perKey, perAccount } = this.#limits;
    const ofKey = this.#slots.take(`key ${c.env.caller!.key}`, perKey);
    if (ofKey === null) return null;
    const ofAccount = this.#slots.take(`account ${accountOf(c).id}`, perAccount);
    if (ofAccount === null) {
      ofKey();
      return null;
    }
    return () => {
      ofKey();
      ofAccount();
    };
  }
}
