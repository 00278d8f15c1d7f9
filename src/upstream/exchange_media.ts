import { NotSent, type Transport, type UpstreamTarget } from "./adapter.ts";
import { Deadline } from "./deadline.ts";
import { parseIfJson } from "./parse_if_json.ts";
import { receivedByStatus, retryAfter, UpstreamFailure } from "./failure.ts";
import { HandshakeFailed, type Http1Client } from "./http1/client.ts";
import type { MediaAdapter, MediaReply, MediaRequest } from "./media_adapter.ts";
import { replyOf, replyOfHttp1, type UpstreamReply } from "./media_reply.ts";
import { sentOnce } from "./sent_once.ts";

/** What one exchange with an upstream needs. */
export interface MediaExchange {
  transport: Transport | undefined;
  /** Sends requests that may cost money; null where every request goes through `fetch`. */
  http1: Http1Client | null;
  target: UpstreamTarget;
  /** For the whole exchange, up to the last byte of the response. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Large, because images may be in the response itself, as base64. */
const REPLY_BYTES_MAX = 128 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

/** Reads non-2xx responses. */
type FaultReader = Pick<MediaAdapter, "fault" | "isDeclined">;

/** Whether bytes of the request may have left: set before the first byte goes to a socket or to `fetch`. */
interface SendState {
  wasHandedOver: boolean;
}

/** Sends a request and reads the whole response; throws `UpstreamFailure` for anything but 2xx. */
export async function exchangeMedia(
  exchange: MediaExchange,
  faults: FaultReader,
  request: MediaRequest,
): Promise<MediaReply> {
  using deadline = new Deadline(exchange.timeoutMs, exchange.signal);
  const state: SendState = { wasHandedOver: false };
  const reply = await sendOnce(exchange, request, deadline.signal, state).catch((cause) => {
    throw toFailure(cause, deadline, state.wasHandedOver);
  });
  const { status, headers } = reply;
  if (status < 200 || status > 299) {
    // The status alone decides where the body of an error cannot be read.
    const bytes = await reply.bytes(ERROR_BYTES_MAX).catch(() => new Uint8Array());
    throw statusFailure(reply, parseIfJson(new TextDecoder().decode(bytes)), faults);
  }
  const bytes = await reply.bytes(REPLY_BYTES_MAX).catch((cause) => {
    throw toFailure(cause, deadline);
  });
  const mimeType = mimeTypeOf(reply) ?? "application/octet-stream";
  return { status, headers, mimeType, body: bodyOf(bytes, mimeType) };
}

/** Sends by a client that never sends twice what may cost money. */
async function sendOnce(
  exchange: MediaExchange,
  request: MediaRequest,
  signal: AbortSignal,
  state: SendState,
): Promise<UpstreamReply> {
  const { transport, http1, target } = exchange;
  if (transport !== undefined) return await sendInProcess(exchange, request, signal, state);
  if (http1 !== null && request.method !== "GET") {
    const plain = await plainRequest(target, request);
    if (http1.canSend(plain)) {
      try {
        const onHandedOver = () => {
          state.wasHandedOver = true;
        };
        return replyOfHttp1(await http1.send(plain, signal, { onHandedOver, acceptsCoded: true }));
      } catch (error) {
        // The TLS handshake failed before the request was written, and `fetch` may succeed with this server.
        if (!(error instanceof HandshakeFailed)) throw error;
      }
    }
  }
  // `fetch` does not tell whether it wrote anything, so every failure of it counts as possibly received.
  state.wasHandedOver = true;
  return replyOf(await sendMedia({ transport, target }, request, signal));
}
/** A provider inside this process raises `NotSent` where it simulates a connection that is refused. */
async function sendInProcess(
  exchange: MediaExchange,
  request: MediaRequest,
  signal: AbortSignal,
  state: SendState,
): Promise<UpstreamReply> {
  state.wasHandedOver = true;
  try {
    return replyOf(await sendMedia(exchange, request, signal));
  } catch (error) {
    if (error instanceof NotSent) state.wasHandedOver = false;
    throw error;
  }
}

/** Text or bytes with plain headers; headers of the configuration come last and win. */
async function plainRequest(target: UpstreamTarget, { url, method, headers, body }: MediaRequest) {
  const all = headersOf(target, headers);
  if (!(body instanceof FormData)) {
    return { url, method, headers: Object.fromEntries(all), body };
  }
  const form = new Response(body);
  if (!all.has("content-type")) all.set("content-type", form.headers.get("content-type")!);
  return { url, method, headers: Object.fromEntries(all), body: await form.bytes() };
}

/** Sends a request by `fetch`, or to a provider inside this process. */
export async function sendMedia(
  { transport, target }: Pick<MediaExchange, "transport" | "target">,
  { url, method, headers, body }: MediaRequest,
  signal: AbortSignal,
): Promise<Response> {
  const init = { method, headers: headersOf(target, headers), redirect: "manual", signal } as const;
  return await (transport === undefined
    ? fetch(url, { ...init, body: sentOnce(body) })
    : transport(new Request(url, { ...init, body })));
}

function headersOf(target: UpstreamTarget, headers: Record<string, string>): Headers {
  const all = new Headers(headers);
  for (const name of Object.keys(target.headers)) all.set(name, target.headers[name]!);
  return all;
}

export function mimeTypeOf({ headers }: { headers: Pick<Headers, "get"> }): string | null {
  const type = (headers.get("content-type") ?? "").replace(/;.*/, "").trim().toLowerCase();
  return type === "" ? null : type;
}

function bodyOf(bytes: Uint8Array<ArrayBuffer>, mimeType: string): unknown {
  if (!/[/+]json$/.test(mimeType)) return bytes;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new UpstreamFailure("unreadable", "the reply is no JSON", { cause, received: "unknown" });
  }
}

function statusFailure(
  { status, headers }: UpstreamReply,
  body: unknown,
  faults: FaultReader,
): UpstreamFailure {
  const fault = faults.fault(status, body);
  return new UpstreamFailure(fault.kind, `the upstream answered ${status}`, {
    cause: typeof body === "string" ? body.slice(0, 2000) : JSON.stringify(body).slice(0, 2000),
    param: fault.param,
    status,
    answer: body,
    retryAfterSeconds: retryAfter(headers),
    received: receivedByStatus(status, faults.isDeclined?.(status, body) === true),
  });
}

/** The failure of an exchange without a whole response, and whether the request may have been received. */
export function toFailure(
  cause: unknown,
  { isLate, ms }: Deadline,
  wasHandedOver = true,
): UpstreamFailure {
  if (cause instanceof UpstreamFailure) return cause;
  if (!wasHandedOver) {
    return new UpstreamFailure("unreachable", "the upstream cannot be reached", {
      cause,
      received: "no",
    });
  }
  return isLate
    ? new UpstreamFailure("timeout", `no whole answer within ${ms} ms`, {
      cause,
      received: "unknown",
    })
    : new UpstreamFailure("cut", "the connection broke", { cause, received: "unknown" });
}
