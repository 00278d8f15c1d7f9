import { type Fault, NotSent, type Target, type Transport } from "./adapter.ts";
import { Deadline } from "./deadline.ts";
import { retryAfter, type Sent, UpstreamFailure } from "./failure.ts";
import type { MediaReply, MediaRequest } from "./media_adapter.ts";

/** How one exchange with an upstream is held. */
export interface Exchange {
  transport: Transport | undefined;
  target: Target;
  /** For the whole of it, the answer's last byte included. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Pictures may stand in the answer itself, as base64. */
const REPLY_BYTES_MAX = 128 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;
/** Said by something between us and the provider, which may well have got the request. */
const LOST_BEHIND_PROXY = new Set([502, 504, 520, 524]);

/** Sends a request and reads the whole answer; throws `UpstreamFailure` for anything but 2xx. */
export async function exchange(
  talk: Exchange,
  judge: (status: number, body: unknown) => Fault,
  request: MediaRequest,
): Promise<MediaReply> {
  using deadline = new Deadline(talk.timeoutMs, talk.signal);
  const response = await send(talk, request, deadline.signal).catch((cause) => {
    throw explained(cause, deadline);
  });
  if (!response.ok) {
    const bytes = await readCapped(response, ERROR_BYTES_MAX).catch(() => new Uint8Array());
    throw refused(response, parsed(new TextDecoder().decode(bytes)), judge);
  }
  const bytes = await readCapped(response, REPLY_BYTES_MAX).catch((cause) => {
    throw explained(cause, deadline);
  });
  const mimeType = mimeTypeOf(response) ?? "application/octet-stream";
  const { status, headers } = response;
  return { status, headers, mimeType, body: bodyOf(bytes, mimeType) };
}

/** The request on its way; declared headers come last and win. */
export async function send(
  { transport, target }: Pick<Exchange, "transport" | "target">,
  { url, method, headers, body }: MediaRequest,
  signal: AbortSignal,
): Promise<Response> {
  const all = new Headers(headers);
  for (const name of Object.keys(target.headers)) all.set(name, target.headers[name]!);
  const init = { method, headers: all, body, redirect: "manual", signal } as const;
  return await (transport === undefined ? fetch(url, init) : transport(new Request(url, init)));
}

export function mimeTypeOf({ headers }: { headers: Headers }): string | null {
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
  response: Response,
  body: unknown,
  judge: (status: number, body: unknown) => Fault,
): UpstreamFailure {
  const { status, headers } = response;
  const { kind, param } = judge(status, body);
  return new UpstreamFailure(kind, `the upstream answered ${status}`, {
    cause: typeof body === "string" ? body.slice(0, 2000) : JSON.stringify(body).slice(0, 2000),
    param,
    status,
    answer: body,
    retryAfterSeconds: retryAfter(headers),
    sent: LOST_BEHIND_PROXY.has(status) ? "maybe" : "refused",
  });
}

/** Why no answer came, and whether the request can have arrived. */
export function explained(cause: unknown, { isLate, ms }: Deadline): UpstreamFailure {
  if (cause instanceof UpstreamFailure) return cause;
  if (isLate) {
    return new UpstreamFailure("timeout", `no whole answer within ${ms} ms`, {
      cause,
      sent: "maybe",
    });
  }
  const sent: Sent = neverConnected(cause) ? "no" : "maybe";
  return sent === "no"
    ? new UpstreamFailure("unreachable", "the upstream cannot be reached", { cause, sent })
    : new UpstreamFailure("cut", "the connection broke", { cause, sent });
}

/** The runtime says where in a request it failed only in words: those of hyper's connector. */
function neverConnected(cause: unknown): boolean {
  if (cause instanceof NotSent) return true;
  const words = cause instanceof Error ? `${cause.message} ${(cause.cause as Error)?.message}` : "";
  return words.includes("client error (Connect)") ||
    /Requests to port \d+ are blocked/.test(words);
}

async function readCapped(response: Response, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.length;
    // Leaving the loop cancels the body.
    if (length > bytesMax) {
      throw new UpstreamFailure("unreadable", "the reply is too large", { sent: "maybe" });
    }
    pieces.push(piece);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
