import type { ServerTarget, Tls } from "./dial.ts";
import { StorageError } from "./storage_error.ts";

/** A parsed database URL. */
export interface DatabaseAddress {
  target: ServerTarget;
  database: string | undefined;
  user: string | undefined;
  password: string | undefined;
  /** Settings for the session, such as `search_path`. */
  session: Record<string, string>;
}

/** Parameters of libpq that the server does not accept. */
const CLIENT_SIDE = [
  ...["channel_binding", "connect_timeout", "gssencmode", "host", "prepare", "ssl", "sslmode"],
  ...["sslrootcert", "target_session_attrs"],
];

/** Reads `postgres://user:password@host:port/database?sslmode=…`. Messages never contain the URL. */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const url = parseUrl(text);
  const query = Object.fromEntries(url.searchParams);
  const host = decode(url.hostname) || query.host || "localhost";
  const port = Number(url.port || 5432);
  const tls = parseTls(query);
  return {
    // As in libpq, a host that is a path is the folder of a unix socket.
    target: host.startsWith("/")
      ? { path: `${host}/.s.PGSQL.${port}` }
      : { host: host.replace(/^\[(.*)\]$/, "$1"), port, ...(tls === undefined ? {} : { tls }) },
    database: decode(url.pathname.slice(1)) || undefined,
    user: decode(url.username) || undefined,
    password: decode(url.password) || undefined,
    session: Object.fromEntries(
      Object.entries(query).filter(([name]) => !CLIENT_SIDE.includes(name)),
    ),
  };
}

const EXAMPLE = "DATABASE_URL must look like postgres://user:password@host:5432/database. " +
  "Characters such as @ : / # ? % in the password must be percent-encoded.";

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new StorageError(EXAMPLE);
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text.trim());
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new StorageError(EXAMPLE);
  }
  // An unencoded / or # ends the host early, and part of the password becomes the path.
  if (url.hash !== "" || url.pathname.includes("@")) {
    throw new StorageError(
      "DATABASE_URL has a / or # in its user or password: write it as %2F or %23.",
    );
  }
  if (url.hostname.includes(",")) {
    throw new StorageError("DATABASE_URL must name one host; this one names several.");
  }
  return url;
}

function parseTls(query: Record<string, string>): Tls | undefined {
  const mode = query.sslmode ?? (query.ssl === "true" ? "require" : "disable");
  const ca = query.sslrootcert === undefined || query.sslrootcert === "system"
    ? {}
    : { ca: readCertificate(query.sslrootcert) };
  switch (mode) {
    case "disable":
      return undefined;
    case "allow":
    case "prefer":
      return { optional: true, verify: "nothing", ...ca };
    case "require":
    case "no-verify":
      return { optional: false, verify: "nothing", ...ca };
    case "verify-ca":
      return { optional: false, verify: "certificate", ...ca };
    case "verify-full":
      return { optional: false, verify: "host", ...ca };
    default:
      throw new StorageError(
        `DATABASE_URL has sslmode=${mode}: use disable, prefer, require, verify-ca or verify-full.`,
      );
  }
}

function readCertificate(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (cause) {
    throw new StorageError(`Cannot read the file ${path} that sslrootcert in DATABASE_URL names.`, {
      cause,
    });
  }
}
