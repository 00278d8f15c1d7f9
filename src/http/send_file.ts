import type { ByteRange, Files, StoredFile } from "../domain/files/files.ts";
import type { HttpContext } from "./exchange.ts";

/** Makes content harmless in a browser: no scripts, no other origins, no content sniffing. */
const POLICY = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; " +
  "style-src 'unsafe-inline'";

/**
 * Sends a file: whole, a range (unless `If-Range` names another version), or 304 when the client has it
 * (`If-None-Match`). The content of an id never changes, so its hash is the version.
 */
export async function sendFile(c: HttpContext, files: Files, file: StoredFile): Promise<Response> {
  const etag = `"${file.sha256}"`;
  const headers: Record<string, string> = {
    "accept-ranges": "bytes",
    etag,
    "last-modified": file.createdAt.toUTCString(),
    "cache-control": "private, max-age=300",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
  if (namesVersion(c.req.header("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  headers["content-type"] = file.mimeType;
  headers["content-disposition"] = disposition(file.filename);
  const range = readRange(c.req.header("range"), c.req.header("if-range"), etag, file.bytes);
  if (range === "unsatisfiable") {
    headers["content-range"] = `bytes */${file.bytes}`;
    delete headers["content-type"];
    delete headers["content-disposition"];
    return new Response(null, { status: 416, headers });
  }
  if (range !== null) {
    headers["content-range"] = `bytes ${range.first}-${range.last}/${file.bytes}`;
  }
  headers["content-length"] = String(range === null ? file.bytes : range.last - range.first + 1);
  const body = c.env.method === "HEAD" ? null : await files.open(file, range ?? undefined);
  return new Response(body, { status: range === null ? 200 : 206, headers });
}

function namesVersion(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((one) => {
    const version = one.trim().replace(/^W\//, "");
    return version === etag || version === "*";
  });
}

/** The requested range; null for the whole file, also where the header is not understood. */
export function readRange(
  range: string | undefined,
  ifRange: string | undefined,
  etag: string,
  bytes: number,
): ByteRange | "unsatisfiable" | null {
  if (range === undefined || (ifRange !== undefined && ifRange.trim() !== etag)) return null;
  const parts = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range.trim());
  if (parts === null) return null;
  const [, from = "", to = ""] = parts;
  if (from === "") {
    if (to === "") return null;
    const last = Number(to);
    return last === 0 ? "unsatisfiable" : { first: Math.max(bytes - last, 0), last: bytes - 1 };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return null;
  if (first >= bytes) return "unsatisfiable";
  return { first, last: to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1) };
}

/** Displayed inline; saved under its name, which may be in any script (RFC 6266). */
function disposition(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `inline; filename="${plain}"` +
    (plain === filename ? "" : `; filename*=UTF-8''${encoded}`);
}
