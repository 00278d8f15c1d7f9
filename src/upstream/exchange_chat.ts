import { type Adapter, inProcessTransport, type UpstreamRequest } from "./adapter.ts";
import { type BodyReader, NO_BODY, openBody } from "./body_reader.ts";
import { HandshakeFailed, type Http1Client } from "./http1/client.ts";
import type { ResponseHeaders } from "./http1/head.ts";
import { sentOnce } from "./sent_once.ts";

/** The response of an upstream, in the same form for all clients. */
export interface ChatResponse {
  readonly status: number;
  readonly fields: ResponseHeaders;
  readonly body: BodyReader;
}

export interface ChatTransport {
  adapter: Adapter;
  http1: Http1Client | null;
  signal: AbortSignal;
}

/** Sends a request by the cheapest client that can send it. Redirects are returned, not followed. */
export async function exchangeChat(
  request: UpstreamRequest,
  { adapter, http1, signal }: ChatTransport,
): Promise<ChatResponse> {
  const { url, method, headers, body } = request;
  const init = { method, headers, body, redirect: "manual", signal } as const;
  const transport = inProcessTransport(adapter, url);
  if (transport !== undefined) return answerOf(await transport(new Request(url, init)));
  if (http1 !== null && http1.canSend(request)) {
    try {
      return await http1.send(request, signal);
    } catch (error) {
      // The TLS handshake failed before the request was written, and `fetch` may succeed with this server.
      if (!(error instanceof HandshakeFailed)) throw error;
    }
  }
  return answerOf(await fetch(url, { ...init, body: sentOnce(body) }));
}

function answerOf({ status, headers, body }: Response): ChatResponse {
  return { status, fields: headers, body: body === null ? NO_BODY : openBody(body) };
}
