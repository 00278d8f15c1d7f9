import { HandshakeFailed, type Http1Client } from "./http1/client.ts";
import type { ResponseHeaders } from "./http1/head.ts";
import type { Http1Request } from "./http1/write_request.ts";
import type { Transport } from "./adapter.ts";
import { type BodyReader, NO_BODY, openBody } from "./body_reader.ts";
import { sentOnce } from "./sent_once.ts";

/** A request as it is sent: all its headers, and a body of text or bytes. */
export interface WireRequest extends Http1Request {
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** The response of an upstream, in the same form for all clients. Its body is not read yet. */
export interface UpstreamResponse {
  readonly status: number;
  readonly fields: ResponseHeaders;
  readonly body: BodyReader;
  /** The content encoding that `body` still has. */
  readonly coding?: string;
}

/** How requests reach an upstream. */
export interface Carrier {
  /** Answers in this process, without the network. */
  readonly transport: Transport | undefined;
  /** Sends the requests that it can; null where every request goes through `fetch`. */
  readonly http1: Http1Client | null;
  /** Responses of `http1` may have a content encoding, which `coding` then names. */
  readonly acceptsCoded?: boolean;
}

const CODED = { acceptsCoded: true };

/**
 * Sends a request once, by the cheapest client that can send it. Throws `NotSent` if the upstream has certainly not
 * received it: `fetch` never tells, so every failure of it leaves that open. Redirects are returned, not followed.
 */
export async function exchange(
  request: WireRequest,
  { transport, http1, acceptsCoded }: Carrier,
  signal: AbortSignal,
): Promise<UpstreamResponse> {
  const { url, method, headers, body } = request;
  if (transport !== undefined) {
    const init = { method, headers, body, redirect: "manual", signal } as const;
    return responseOf(await transport(new Request(url, init)));
  }
  if (http1 !== null && http1.canSend(request)) {
    try {
      if (acceptsCoded !== true) return await http1.send(request, signal);
      const response = await http1.send(request, signal, CODED);
      return { ...response, coding: response.fields.get("content-encoding") ?? "identity" };
    } catch (error) {
      // The TLS handshake failed before the request was written, and `fetch` may succeed with this server.
      if (!(error instanceof HandshakeFailed)) throw error;
    }
  }
  const init = { method, headers, body: sentOnce(body), redirect: "manual", signal } as const;
  return responseOf(await fetch(url, init));
}

function responseOf({ status, headers, body }: Response): UpstreamResponse {
  return { status, fields: headers, body: body === null ? NO_BODY : openBody(body) };
}
