import type { Adapters } from "../../providers/adapters.ts";
import type { ChatDeps } from "../workflows/chat/complete_chat.ts";
import type { OpenFiles } from "../domain/files/open_files.ts";
import { errorBody } from "../http/render_error.ts";
import type { Ledger } from "../domain/ledger/ledger.ts";
import type { RunningStreams } from "../domain/accounts/running_streams.ts";
import type { Limiter } from "../domain/limits/limiter.ts";
import type { PublicHosts } from "../platform/outbound/public_hosts.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import { Admission } from "../upstream/admission.ts";
import { openCallIds } from "../upstream/call_ids.ts";
import { Http1Client, needsFetch } from "../upstream/http1/client.ts";
import { Upstreams } from "../upstream/upstreams.ts";

interface Deps {
  adapters: Adapters;
  ledger: Ledger;
  limiter: Limiter;
  streams: RunningStreams;
  files: Pick<OpenFiles, "keysFor">;
  imageHosts: PublicHosts;
  metrics: Metrics;
  log: Log;
}

interface ChatOptions {
  environment: Record<string, string | undefined>;
  timing?: { chat?: ChatDeps["timing"] };
}

/** The upstreams and what chats need of them. */
export interface OpenChat extends Disposable {
  readonly admission: Admission;
  readonly upstreams: Upstreams;
  readonly chat: ChatDeps;
  /** Sends requests that cost money; null where the environment asks for a proxy or tracing, which only `fetch` supports. */
  readonly http1: Http1Client | null;
}

export function openChat(
  { adapters, ledger, limiter, streams, files, imageHosts, metrics, log }: Deps,
  { environment, timing }: ChatOptions,
): OpenChat {
  const admission = new Admission({
    adapters,
    onAttempt({ provider, model, kind, error }) {
      metrics.attempts.inc({ provider, outcome: kind ?? "ok" });
      // At debug level only: the usual log does not name providers; /metrics and /admin/v1/providers do, for operators.
      if (kind !== null) log.debug("upstream failed", { provider, model, kind, error });
    },
  });
  const http1 = needsFetch(environment) ? null : new Http1Client();
  const callIds = openCallIds(() => files.keysFor("tool call ids"));
  const upstreams = new Upstreams(admission, http1, callIds);
  const chat: ChatDeps = {
    ledger,
    limiter,
    upstreams,
    streams,
    imageHosts,
    renderFailure: (apiError, requestId) => JSON.stringify(errorBody(apiError, requestId)),
    log,
    timing: timing?.chat,
  };
  return { admission, upstreams, chat, http1, [Symbol.dispose]: () => http1?.[Symbol.dispose]() };
}
