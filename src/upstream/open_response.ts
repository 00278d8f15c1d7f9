import type { UpstreamFault } from "./adapter.ts";
import { clientParam } from "./client_param.ts";
import type { Deadline } from "./deadline.ts";
import { type Carrier, exchange, type UpstreamResponse, type WireRequest } from "./exchange.ts";
import { receivedByStatus, UpstreamFailure } from "./failure.ts";
import { retryAfter } from "../lib/retry_after.ts";
import { parseIfJson } from "./parse_if_json.ts";
import { readText } from "./read_whole.ts";

/** Reads non-2xx responses. */
export interface FaultReader {
  fault(status: number, body: unknown): UpstreamFault;
  isDeclined?(status: number, body: unknown): boolean;
}

/** What one exchange with an upstream needs. */
export interface Exchange extends Carrier {
  readonly faults: FaultReader;
  /** The client's own request, for faults that name a field of it; absent where faults name our fields. */
  readonly original?: unknown;
}

const ERROR_BYTES_MAX = 64 * 1024;
const CAUSE_CHARACTERS_MAX = 2000;
/** Longer announced pauses are cut to this. */
const RETRY_AFTER_SECONDS_MAX = 3600;

/** Sends a request and waits for the start of its response. Throws `UpstreamFailure` for anything but 2xx. */
export async function openResponse(
  of: Exchange,
  request: WireRequest,
  deadline: Deadline,
): Promise<UpstreamResponse> {
  let response: UpstreamResponse;
  try {
    response = await exchange(request, of, deadline.signal);
  } catch (cause) {
    throw deadline.toFailure(cause);
  }
  deadline.resetTimer();
  const { status } = response;
  if (status >= 200 && status < 300) return response;
  // The status alone decides where the body of an error cannot be read.
  const text = await readText(response, ERROR_BYTES_MAX).catch(() => "");
  throw statusFailure(of, response, text);
}

function statusFailure(
  { faults, original }: Exchange,
  { status, fields }: UpstreamResponse,
  text: string,
): UpstreamFailure {
  const answer = parseIfJson(text);
  const { kind, param } = faults.fault(status, answer);
  return new UpstreamFailure(kind, `the upstream answered ${status}`, {
    cause: text.slice(0, CAUSE_CHARACTERS_MAX),
    param: original === undefined ? param : clientParam(param, original),
    status,
    answer,
    retryAfterSeconds: retryAfter(fields.get("retry-after"), RETRY_AFTER_SECONDS_MAX),
    received: receivedByStatus(status, faults.isDeclined?.(status, answer) === true),
  });
}
