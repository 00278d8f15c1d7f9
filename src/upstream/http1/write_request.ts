export interface Http1Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

const TOGETHER_BYTES_MAX = 1024 * 1024;
const encoder = new TextEncoder();

/**
 * The bytes of a request; `firstLines` are its first two lines without the method. A short body is copied behind
 * its head, so that both are one write; a long body is not copied.
 */
export function writeRequest(
  { method, headers, body }: Http1Request,
  firstLines: string,
): { head: Uint8Array; content: Uint8Array | null } {
  let head = method + firstLines;
  let isNamed = false;
  for (const name in headers) {
    head += `${name}: ${headers[name]}\r\n`;
    isNamed ||= name.toLowerCase() === "user-agent";
  }
  // Some servers reject requests without a user agent.
  if (!isNamed) head += "user-agent: Tollgate\r\n";
  head += "accept-encoding: identity\r\n";
  const content = typeof body === "string" ? encoder.encode(body) : body;
  if (content !== null) head += `content-length: ${content.length}\r\n`;
  else if (method !== "GET") head += "content-length: 0\r\n";
  head += "\r\n";
  if (content !== null && content.length > TOGETHER_BYTES_MAX) {
    return { head: encoder.encode(head), content };
  }
  const bytes = new Uint8Array(head.length + (content?.length ?? 0));
  encoder.encodeInto(head, bytes);
  if (content !== null) bytes.set(content, head.length);
  return { head: bytes, content: null };
}
