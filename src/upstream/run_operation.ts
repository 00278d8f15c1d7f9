import type { MediaRequest } from "./media_adapter.ts";
import type { Operation, UpstreamReply, UpstreamTarget } from "./adapter.ts";
import { Deadline } from "./deadline.ts";
import type { UpstreamResponse, WireRequest } from "./exchange.ts";
import { UpstreamFailure } from "./failure.ts";
import { type Exchange, openResponse } from "./open_response.ts";
import { readBytes } from "./read_whole.ts";

/** What an operation needs whose reply is read as a whole. */
export interface UpstreamCall extends Exchange {
  readonly target: UpstreamTarget;
  /** For the whole exchange, up to the last byte of the response. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Large, because images may be in the response itself, as base64. */
const REPLY_BYTES_MAX = 128 * 1024 * 1024;
const decoder = new TextDecoder();

/** Runs an operation once: writes its request, exchanges it, reads its reply. Throws `UpstreamFailure`. */
export async function runOperation<Input, Output>(
  call: UpstreamCall,
  operation: Operation<Input, Output>,
  input: Input,
): Promise<Output> {
  const request = await operation.write(input, call.target);
  let reply: UpstreamReply;
  try {
    reply = await exchangeWhole(call, request);
  } catch (error) {
    const told = error instanceof UpstreamFailure ? readError(operation, error) : undefined;
    if (told === undefined) throw error;
    return told;
  }
  try {
    return await operation.read(reply, call.target, input);
  } catch (cause) {
    throw new UpstreamFailure("unreadable", "the reply cannot be read", { cause });
  }
}

/** Some providers answer by the status: a failed job, or that there is none. */
function readError<Output>(
  operation: Pick<Operation<never, Output>, "readStatus">,
  { options: { status, answer } }: UpstreamFailure,
): Output | undefined {
  return status === undefined ? undefined : operation.readStatus?.(status, answer);
}

/** Sends a request and reads the whole response. */
export async function exchangeWhole(
  call: UpstreamCall,
  request: MediaRequest,
): Promise<UpstreamReply> {
  using deadline = new Deadline({ totalMs: call.timeoutMs, signal: call.signal });
  // Nothing is paid for a GET that is sent twice, and `fetch` supports more servers.
  const isRead = request.method === "GET";
  const response = await openResponse(
    isRead ? { ...call, http1: null } : call,
    await toWire(request, call.target),
    deadline,
  );
  const bytes = await readBytes(response, REPLY_BYTES_MAX).catch((cause) => {
    throw deadline.toFailure(cause);
  });
  return replyOf(response, bytes);
}

async function toWire(
  { url, method, headers, body }: MediaRequest,
  target: UpstreamTarget,
): Promise<WireRequest> {
  const all = headersFor(target, headers);
  if (!(body instanceof FormData)) return { url, method, headers: Object.fromEntries(all), body };
  const form = new Response(body);
  if (!all.has("content-type")) all.set("content-type", form.headers.get("content-type")!);
  return { url, method, headers: Object.fromEntries(all), body: await form.bytes() };
}

/** Headers of the configuration win over all others. */
export function headersFor({ headers: configured }: UpstreamTarget, own: HeadersInit): Headers {
  const all = new Headers(own);
  for (const name of Object.keys(configured)) all.set(name, configured[name]!);
  return all;
}

function replyOf(
  { status, fields }: UpstreamResponse,
  bytes: Uint8Array<ArrayBuffer>,
): UpstreamReply {
  const mimeType = mimeTypeOf(fields) ?? "application/octet-stream";
  return { status, headers: fields, mimeType, body: bodyOf(bytes, mimeType) };
}

export function mimeTypeOf(headers: Pick<Headers, "get">): string | null {
  const type = (headers.get("content-type") ?? "").replace(/;.*/, "").trim().toLowerCase();
  return type === "" ? null : type;
}

function bodyOf(bytes: Uint8Array<ArrayBuffer>, mimeType: string): unknown {
  if (!/[/+]json$/.test(mimeType)) return bytes;
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (cause) {
    throw new UpstreamFailure("unreadable", "the reply is no JSON", { cause });
  }
}
