/** A place in a trace, as the W3C headers `traceparent` and `tracestate` carry it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether the sender keeps this trace. */
  readonly isSampled: boolean;
  /** What tracing systems added, passed on as it came. */
  readonly state: string;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);
const STATE_CHARACTERS_MAX = 512;

/** Null for a header that is missing or not valid: then a new trace begins. */
export function parseTraceparent(
  header: string | null,
  state: string | null = null,
): TraceContext | null {
  const fields = header === null ? null : TRACEPARENT.exec(header);
  if (fields === null) return null;
  const [, traceId, spanId, flags] = fields as unknown as [string, string, string, string];
  if (traceId === NO_TRACE || spanId === NO_SPAN) return null;
  return {
    traceId,
    spanId,
    isSampled: (parseInt(flags, 16) & 1) === 1,
    state: state !== null && state.length <= STATE_CHARACTERS_MAX ? state : "",
  };
}

export function formatTraceparent(
  { traceId, spanId, isSampled }: Pick<TraceContext, "traceId" | "spanId" | "isSampled">,
): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
/** Asking for random bytes costs more than using them. */
const random = new Uint8Array(4096);
let used = random.length;

/** So many random bytes in hexadecimal: 16 for a trace, 8 for a span. */
export function randomHex(bytes: number): string {
  if (used + bytes > random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  let text = "";
  for (let n = 0; n < bytes; n++) text += HEX[random[used + n]!];
  used += bytes;
  return text;
}
