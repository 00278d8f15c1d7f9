import type { Adapters } from "../../providers/adapters.ts";
import type { ChatDeps } from "../workflows/chat/complete_chat.ts";
import type { OpenFiles } from "../domain/files/open_files.ts";
import type { Ledger } from "../domain/ledger/ledger.ts";
import type { RunningStreams } from "../domain/accounts/running_streams.ts";
import type { Limiter } from "../domain/limits/limiter.ts";
import type { PublicHosts } from "../platform/outbound/public_hosts.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import { Admission } from "../upstream/admission.ts";
import { openCallIds } from "../upstream/call_ids.ts";
import { Http1Client, needsFetch } from "../upstream/http1/client.ts";
import { openThinkingSeals, type ThinkingSeals } from "../upstream/thinking_seals.ts";
import { Upstreams } from "../upstream/upstreams.ts";
import { reportUpstreams } from "./report_upstreams.ts";

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
  isDrill: boolean;
  environment: Record<string, string | undefined>;
  timing?: { chat?: ChatDeps["timing"] };
}

/** The upstreams and what chats need of them. */
export interface OpenChat extends Disposable {
  readonly admission: Admission;
  readonly upstreams: Upstreams;
  readonly chat: ChatDeps;
  readonly seals: ThinkingSeals;
  /** Sends requests that cost money; null where the environment asks for a proxy, which only `fetch` supports. */
  readonly http1: Http1Client | null;
}

export function openChat(
  { adapters, ledger, limiter, streams, files, imageHosts, metrics, log }: Deps,
  { environment, isDrill, timing }: ChatOptions,
): OpenChat {
  const admission = new Admission({
    adapters,
    isClosed: isDrill,
    ...reportUpstreams(metrics, log),
  });
  const http1 = needsFetch(environment) ? null : new Http1Client();
  const callIds = openCallIds(() => files.keysFor("tool call ids"));
  const seals = openThinkingSeals(() => files.keysFor("reasoning signatures"));
  const upstreams = new Upstreams(admission, http1, callIds, seals);
  const chat: ChatDeps = {
    ledger,
    limiter,
    upstreams,
    streams,
    imageHosts,
    log,
    timing: timing?.chat,
  };
  return {
    ...{ admission, upstreams, chat, seals, http1 },
    [Symbol.dispose]: () => http1?.[Symbol.dispose](),
  };
}
