/** A year, as browsers' makers advise. For this host alone: what else its domain serves is not ours to say. */
const POLICY = "max-age=31536000";
const NO_NAME = /^(?:localhost|.*\.localhost|[\d.]+|\[.*\])$/;

/**
 * What tells browsers to come back by https only; null where the site is not declared to be there. A
 * machine's own name would be spoilt for everything else that is developed on it, and bare addresses
 * have no such policies.
 */
export function transportSecurity(siteUrl: string | null): string | null {
  if (siteUrl === null) return null;
  const { protocol, hostname } = new URL(siteUrl);
  return protocol === "https:" && !NO_NAME.test(hostname) ? POLICY : null;
}
