/** One year, for this host only: its subdomains may serve other things. */
const POLICY = "max-age=31536000";
const NOT_A_DOMAIN = /^(?:localhost|.*\.localhost|[\d.]+|\[.*\])$/;

/**
 * The `Strict-Transport-Security` header; null unless the configured site URL is https. Never for localhost,
 * where it would break other local projects, nor for IP addresses, which have no such policy.
 */
export function transportSecurity(siteUrl: string | null): string | null {
  if (siteUrl === null) return null;
  const { protocol, hostname } = new URL(siteUrl);
  return protocol === "https:" && !NOT_A_DOMAIN.test(hostname) ? POLICY : null;
}
