import type { RunningStreams } from "../domain/accounts/running_streams.ts";
import { accountOf, type HttpContext } from "./exchange.ts";

/** Tells a request that waits when to stop; dispose of it with the request. */
export interface Stop extends Disposable {
  readonly signal: AbortSignal;
}

/** Aborts when the client disconnects, the node drains, or the account is suspended. */
export function watchStop(c: HttpContext, streams: RunningStreams, drain: AbortSignal): Stop {
  const stopped = new AbortController();
  const watch = streams.watch(accountOf(c).id, (error) => stopped.abort(error));
  return {
    signal: AbortSignal.any([c.req.raw.signal, drain, stopped.signal]),
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}
