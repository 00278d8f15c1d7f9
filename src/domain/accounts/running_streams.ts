import type { ApiError } from "../../lib/api_error.ts";
import type { Cluster } from "../../platform/cluster/cluster.ts";
import { accountSuspended } from "./account_status.ts";

type End = (error: ApiError) => void;

/** Streams under way on this node, by account: they end at once when their account is suspended or closed. */
export class RunningStreams {
  readonly #ends = new Map<string, Set<End>>();
  /** Stopped accounts, until they are changed again: a request that came just before may begin its stream later. */
  readonly #stopped = new Set<string>();

  constructor(cluster: Pick<Cluster, "onChange">) {
    cluster.onChange((topic, subject) => {
      if (topic === "account") this.#stopped.delete(subject);
      if (topic !== "account_stopped") return;
      this.#stopped.add(subject);
      for (const end of this.#ends.get(subject) ?? []) end(accountSuspended());
    });
  }

  /** Calls `end` when the account is stopped; dispose of the result when the stream has ended. */
  watch(account: string, end: End): Disposable {
    const ends = this.#ends.get(account) ?? new Set();
    this.#ends.set(account, ends.add(end));
    if (this.#stopped.has(account)) queueMicrotask(() => ends.has(end) && end(accountSuspended()));
    return {
      [Symbol.dispose]: () => {
        ends.delete(end);
        if (ends.size === 0 && this.#ends.get(account) === ends) this.#ends.delete(account);
      },
    };
  }
}
