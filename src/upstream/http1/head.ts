/** The response violates HTTP/1.1, or broke off. */
export class InvalidResponse extends Error {
  override readonly name = "InvalidResponse";
}

/** Header fields by their names in lower case. */
export interface ResponseHeaders {
  get(name: string): string | null;
}

/** The status line and the headers of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly fields: ResponseHeaders;
  /** How the body ends: after this many bytes, with its last chunk, or when the connection closes. */
  readonly framing: number | "chunked" | "close";
  /** Whether the connection can be reused afterwards. */
  readonly isKept: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
const NAME = /^[!#$%&'*+.^`|~\w-]+$/;
const CONTROL = /[\0\r\n]/;
const FIELDS_MAX = 200;

/** Parses a head without the empty line at its end. An ambiguous head is an error. */
export function parseHead(text: string): ResponseHead {
  const lines = text.split("\r\n");
  const [, minor, status] = STATUS_LINE.exec(lines[0]!) ?? [];
  if (status === undefined) throw new InvalidResponse("the response is not HTTP/1.1");
  if (lines.length > FIELDS_MAX) throw new InvalidResponse("the response has too many headers");
  const fields = new Map<string, string>();
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at]!;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!NAME.test(name) || CONTROL.test(line)) {
      throw new InvalidResponse("a header cannot be read");
    }
    const key = name.toLowerCase();
    const before = fields.get(key);
    const value = line.slice(colon + 1).trim();
    fields.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  const code = Number(status);
  const framing = framingOf(code, fields);
  return {
    status: code,
    fields: { get: (name) => fields.get(name) ?? null },
    framing,
    isKept: minor === "1" && framing !== "close" && !closes(fields) &&
      // With two contradicting lengths, the bytes after the body cannot be trusted.
      !(framing === "chunked" && fields.has("content-length")),
  };
}

function framingOf(status: number, fields: ReadonlyMap<string, string>): ResponseHead["framing"] {
  if (status < 200 || status === 204 || status === 304) return 0;
  const coding = fields.get("transfer-encoding");
  if (coding !== undefined) {
    if (coding.toLowerCase() === "chunked") return "chunked";
    throw new InvalidResponse("the response has a transfer coding that was not requested");
  }
  const announced = fields.get("content-length");
  if (announced === undefined) return "close";
  const [length, ...more] = announced.split(",").map((part) => part.trim());
  if (!/^\d{1,15}$/.test(length!) || more.some((other) => other !== length)) {
    throw new InvalidResponse("the response's length cannot be read");
  }
  return Number(length);
}

function closes(fields: ReadonlyMap<string, string>): boolean {
  const options = fields.get("connection");
  return options !== undefined && /(?:^|[\s,])close(?:$|[\s,])/i.test(options);
}
