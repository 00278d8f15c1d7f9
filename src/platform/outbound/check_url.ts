import { isIP } from "node:net";
import { ApiError } from "../../lib/api_error.ts";
import { isPublicAddress } from "./addresses.ts";
import { type Resolve, resolveHost } from "./resolve.ts";

/** What requests to URLs of clients may reach. */
export interface OutboundPolicy {
  /** `outbound.allow_private` of the configuration: for development only. */
  readonly allowPrivate: boolean;
  /** The longest URL, where it is not a client's. */
  readonly charactersMax?: number;
}

const CHARACTERS_MAX = 2048;
/** Parsers disagree about these; an attacker uses them so that two parsers see different hosts. */
// deno-lint-ignore no-control-regex
const AMBIGUOUS = /[\u0000-\u0020\u007f\\]/;
/** Names that by their nature mean this machine or this network. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain|lan|home\.arpa)$/;

/**
 * Refuses an address that a client may not name. What its host resolves to is looked at when the
 * connection is made (`safe_fetch.ts`): a check here alone would hold only until the next DNS answer.
 */
export function checkUrl(
  text: string,
  policy: OutboundPolicy,
  param?: string,
  hint?: string,
): URL {
  const reason = objection(text, policy);
  if (typeof reason === "string") throw unsafe(reason, param, hint);
  return reason;
}

/** Whether a client may name this address. */
export function isSafeUrl(text: string, policy: OutboundPolicy): boolean {
  return typeof objection(text, policy) !== "string";
}

/**
 * As `checkUrl`, and refuses a host that resolves to a private address now, so that a client is told at
 * once. One that does not resolve may do so later: that is for the connection to find out.
 */
export async function checkUrlResolves(
  text: string,
  policy: OutboundPolicy,
  param?: string,
  resolve: Resolve = resolveHost,
): Promise<URL> {
  const url = checkUrl(text, policy, param);
  if (policy.allowPrivate) return url;
  const addresses = await resolve(url.hostname).catch(() => []);
  if (!addresses.every(isPublicAddress)) throw unsafe(PRIVATE_ADDRESS, param);
  return url;
}

export const PRIVATE_ADDRESS = "must not lead into a private network";

/** `hint`: what would do instead. */
export function unsafe(reason: string, param?: string, hint?: string): ApiError {
  const instead = hint === undefined ? "" : ` ${hint}`;
  return new ApiError("unsafe_url", `${param ?? "The address"} ${reason}.${instead}`, { param });
}

function objection(text: string, policy: OutboundPolicy): string | URL {
  const { allowPrivate, charactersMax = CHARACTERS_MAX } = policy;
  if (text.length > charactersMax) return `must have at most ${charactersMax} characters`;
  const url = AMBIGUOUS.test(text) ? null : URL.parse(text);
  const scheme = /^(https?):\/\/([^/?#]*)/i.exec(text);
  if (url === null || scheme === null) return "must be an https:// address";
  if (scheme[2]!.includes("@")) return "must not hold a user name or password";
  if (allowPrivate) return url;
  if (url.protocol !== "https:") return "must be an https:// address";
  if (url.port !== "") return "must use port 443";
  const host = url.hostname;
  if (host.startsWith("[") || isIP(host) !== 0) return "must name a host, not an IP address";
  if (!host.includes(".") || host.endsWith(".") || LOCAL_NAME.test(host)) {
    return "must name a public host";
  }
  return url;
}
