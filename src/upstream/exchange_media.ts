import { NotSent, type Transport, type UpstreamTarget } from "./adapter.ts";
import { Deadline } from "./deadline.ts";
import { retryAfter, sentByStatus, UpstreamFailure } from "./failure.ts";
import { HandshakeFailed, type Http1Client } from "./http1/client.ts";
import type { MediaAdapter, MediaReply, MediaRequest } from "./media_adapter.ts";
import { replyOf, replyOfHttp1, type UpstreamReply } from "./media_reply.ts";
import { sentOnce } from "./sent_once.ts";

/** How one exchange with an upstream is held. */
export interface MediaExchange {
  transport: Transport | undefined;
  /** Sends what may cost money; null where everything is for `fetch`. */
  http1: Http1Client | null;
  target: UpstreamTarget;
  /** For the whole of it, the answer's last byte included. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Pictures may stand in the answer itself, as base64. */
const REPLY_BYTES_MAX = 128 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

/** What an answer that is not 2xx means. */
type Judge = Pick<MediaAdapter, "fault" | "isRefusal">;

/** Sends a request and reads the whole answer; throws `UpstreamFailure` for anything but 2xx. */
export async function exchangeMedia(
  talk: MediaExchange,
  judge: Judge,
  request: MediaRequest,
): Promise<MediaReply> {
  using deadline = new Deadline(talk.timeoutMs, talk.signal);
  const handover = { isBegun: false };
  const reply = await carry(talk, request, deadline.signal, handover).catch((cause) => {
    throw explained(cause, deadline, handover.isBegun);
  });
  const { status, headers } = reply;
  if (status < 200 || status > 299) {
    const bytes = await reply.bytes(ERROR_BYTES_MAX).catch(() => new Uint8Array());
    throw refused(reply, parsed(new TextDecoder().decode(bytes)), judge);
  }
  const bytes = await reply.bytes(REPLY_BYTES_MAX).catch((cause) => {
    throw explained(cause, deadline);
  });
  const mimeType = mimeTypeOf(reply) ?? "application/octet-stream";
  return { status, headers, mimeType, body: bodyOf(bytes, mimeType) };
}

/** By a way that cannot send twice what may cost money. `handover` tells whether anything can have arrived. */
async function carry(
  talk: MediaExchange,
  request: MediaRequest,
  signal: AbortSignal,
  handover: { isBegun: boolean },
): Promise<UpstreamReply> {
  const { transport, http1 } = talk;
  if (transport === undefined && http1 !== null && request.method !== "GET") {
    const plain = await plainRequest(talk.target, request);
    if (http1.takes(plain)) {
      try {
        return replyOfHttp1(
          await http1.send(plain, signal, {
            onHandedOver: () => handover.isBegun = true,
            acceptsCoded: true,
          }),
        );
      } catch (error) {
        // Nothing was sent, and `fetch` may come to terms with this server.
        if (!(error instanceof HandshakeFailed)) throw error;
      }
    }
  }
  handover.isBegun = true;
  try {
    return replyOf(await sendMedia(talk, request, signal));
  } catch (error) {
    if (error instanceof NotSent) handover.isBegun = false;
    throw error;
  }
}

/** Text or bytes under plain headers; declared headers come last and win. */
async function plainRequest(target: UpstreamTarget, { url, method, headers, body }: MediaRequest) {
  const all = headersOf(target, headers);
  if (!(body instanceof FormData)) {
    return { url, method, headers: Object.fromEntries(all), body };
  }
  const form = new Response(body);
  if (!all.has("content-type")) all.set("content-type", form.headers.get("content-type")!);
  return { url, method, headers: Object.fromEntries(all), body: await form.bytes() };
}

/** The request on its way by `fetch`. */
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
    throw new UpstreamFailure("unreadable", "the reply is no JSON", { cause, sent: "maybe" });
  }
}

function refused(
  { status, headers }: UpstreamReply,
  body: unknown,
  judge: Judge,
): UpstreamFailure {
  const fault = judge.fault(status, body);
  return new UpstreamFailure(fault.kind, `the upstream answered ${status}`, {
    cause: typeof body === "string" ? body.slice(0, 2000) : JSON.stringify(body).slice(0, 2000),
    param: fault.param,
    status,
    answer: body,
    retryAfterSeconds: retryAfter(headers),
    sent: sentByStatus(status, judge.isRefusal?.(status, body) === true),
  });
}

/** Why no answer came, and whether the request can have arrived. */
export function explained(
  cause: unknown,
  { isLate, ms }: Deadline,
  wasHandedOver = true,
): UpstreamFailure {
  if (cause instanceof UpstreamFailure) return cause;
  if (!wasHandedOver) {
    return new UpstreamFailure("unreachable", "the upstream cannot be reached", {
      cause,
      sent: "no",
    });
  }
  return isLate
    ? new UpstreamFailure("timeout", `no whole answer within ${ms} ms`, { cause, sent: "maybe" })
    : new UpstreamFailure("cut", "the connection broke", { cause, sent: "maybe" });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
