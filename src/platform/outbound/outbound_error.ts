import { RemoteError } from "../../lib/remote_error.ts";

/** How a request to an address that a client named went wrong; stays inside unless its owner is told. */
export type OutboundFault =
  | "unresolved"
  | "refused"
  | "tls"
  | "timeout"
  | "too_large"
  | "broken"
  | "aborted";

const SENTENCES: Readonly<Record<OutboundFault, string>> = {
  unresolved: "The host name does not resolve",
  refused: "The connection could not be made",
  tls: "The certificate is not valid for this host",
  timeout: "There was no complete answer in time",
  too_large: "The answer is too large",
  broken: "The connection was lost, or the answer is not HTTP",
  aborted: "The request was given up",
};

export class OutboundError extends RemoteError {
  override readonly name = "OutboundError";
  /** It happened on a connection kept from an earlier request, before any answer. */
  readonly wasKept: boolean;

  constructor(readonly fault: OutboundFault, options: ErrorOptions & { wasKept?: boolean } = {}) {
    super(SENTENCES[fault], options);
    this.wasKept = options.wasKept ?? false;
  }
}

const UNREACHED = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "EACCES",
  "ETIMEDOUT",
]);

/** What an error of node:http means. */
export function outboundFaultOf(error: unknown): OutboundFault {
  const errors = error instanceof AggregateError ? error.errors : [error];
  const codes = errors.map((one) => String((one as { code?: unknown } | null)?.code ?? ""));
  if (codes.some((code) => UNREACHED.has(code))) return "refused";
  if (codes.some((code) => /CERT|TLS|SSL|EPROTO|UNABLE_TO_/.test(code))) return "tls";
  return "broken";
}
