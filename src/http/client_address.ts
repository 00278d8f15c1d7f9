import type { HttpExchange } from "./exchange.ts";

/**
 * The address of the client: the peer's, or the one that a trusted proxy reports. With `site.trusted_proxies: N`, the
 * N last entries of `X-Forwarded-For` were written by proxies of the operator; what stands before them is the
 * client's own claim.
 */
export function readClientAddress(
  { config, info }: Pick<HttpExchange, "config" | "info">,
  headers: Headers,
): string {
  const hops = config.site.trustedProxies;
  const forwarded = headers.get("x-forwarded-for")?.split(",").map((hop) => hop.trim()) ?? [];
  const { remoteAddr } = info;
  const peer = "hostname" in remoteAddr ? remoteAddr.hostname : "local";
  return withoutPort(hops === 0 ? peer : forwarded.at(-hops) ?? peer);
}

const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]*)\])(?::\d+)?$/;

/** Some proxies add the port, which differs for every connection. */
function withoutPort(address: string): string {
  const parts = WITH_PORT.exec(address);
  return parts?.[1] ?? parts?.[2] ?? address;
}
