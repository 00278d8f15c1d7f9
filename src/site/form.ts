import { Refusal } from "../base/refusal.ts";
import type { SiteContext } from "./context.ts";

const FORM_BYTES_MAX = 256 * 1024;

/** The texts of a form, by name; files and repeated names are not among them. */
export async function readForm(c: SiteContext): Promise<Record<string, string>> {
  if (Number(c.req.header("content-length") ?? Infinity) > FORM_BYTES_MAX) {
    throw new Refusal("payload_too_large", "This form is too large.");
  }
  const form: Record<string, string> = {};
  for (const [name, value] of Object.entries(await c.req.parseBody())) {
    if (typeof value === "string") form[name] = value;
  }
  return form;
}

/**
 * Who is asking, for counting attempts: the peer's address, or what a trusted proxy says it is. Of
 * IPv6 the network counts: one house has 2^64 addresses.
 */
export function addressOf(c: SiteContext): string {
  const hops = c.env.plan.site.trustedProxies;
  const forwarded = c.req.header("x-forwarded-for")?.split(",").map((hop) => hop.trim()) ?? [];
  const { remoteAddr } = c.env.info;
  const peer = "hostname" in remoteAddr ? remoteAddr.hostname : "local";
  const address = withoutPort(hops === 0 ? peer : forwarded.at(-hops) ?? peer);
  return address.includes(":") ? prefixOf(address) : address;
}

/** The network they ask from: a /24 of IPv4, a /64 of IPv6. */
export function networkOf(c: SiteContext): string {
  const address = addressOf(c);
  return address.replace(/^(\d+\.\d+\.\d+)\.\d+$/, "$1.0/24");
}

const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]*)\])(?::\d+)?$/;

/** Some proxies write the port too, which is another for every connection. */
function withoutPort(address: string): string {
  const parts = WITH_PORT.exec(address);
  return parts?.[1] ?? parts?.[2] ?? address;
}

function prefixOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const zeros = tail === undefined
    ? 0
    : 8 - groups.length - (tail === "" ? 0 : tail.split(":").length);
  const all = [...groups, ...Array(Math.max(0, zeros)).fill("0"), ...(tail ?? "").split(":")];
  return all.slice(0, 4).join(":") + "::/64";
}
