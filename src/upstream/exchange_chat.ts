import { type Adapter, NotSent, type UpstreamRequest } from "./adapter.ts";
import { type BodyReader, NO_BODY, openBody } from "./body_reader.ts";
import type { Http1Client } from "./http1/client.ts";
import type { Fields } from "./http1/head.ts";

/** What an upstream answers, whoever carried it. */
export interface Answer {
  readonly status: number;
  readonly fields: Fields;
  readonly body: BodyReader;
}

export interface Way {
  adapter: Adapter;
  http1: Http1Client | null;
  signal: AbortSignal;
}

/** Sends a request by the cheapest way that can carry it. Redirects are answers. */
export async function exchange(
  request: UpstreamRequest,
  { adapter, http1, signal }: Way,
): Promise<Answer> {
  const { url, method, headers, body } = request;
  const init = { method, headers, body, redirect: "manual", signal } as const;
  if (adapter.transport !== undefined) {
    return answerOf(await adapter.transport(new Request(url, init)));
  }
  if (http1 !== null && http1.takes(request)) {
    try {
      return await http1.send(request, signal);
    } catch (error) {
      // Nobody has seen it, so it may be sent again; and what `fetch` says is what counts.
      if (!(error instanceof NotSent)) throw error;
    }
  }
  return answerOf(await fetch(url, init));
}

function answerOf({ status, headers, body }: Response): Answer {
  return { status, fields: headers, body: body === null ? NO_BODY : openBody(body) };
}
