import { ApiError } from "../lib/api_error.ts";
import type { SiteContext } from "./context.ts";

const FORM_BYTES_MAX = 256 * 1024;

type Form = Record<string, string>;

/** Read once: the check against forgery looks into a form before its page does. */
const forms = new WeakMap<Request, Promise<Form>>();

/** The texts of a form, by name; files are not among them. */
export function readSiteForm(c: SiteContext): Promise<Form> {
  const { raw } = c.req;
  const form = forms.get(raw) ?? read(c);
  forms.set(raw, form);
  return form;
}

async function read(c: SiteContext): Promise<Form> {
  if (Number(c.req.header("content-length") ?? Infinity) > FORM_BYTES_MAX) {
    throw new ApiError("payload_too_large", "This form is too large.");
  }
  const { bytes, reservation } = await c.env.bodies.read(c.req.raw, {
    owner: `address ${clientAddress(c)}`,
    bytesMax: FORM_BYTES_MAX,
    limits: c.env.config.requests,
  });
  c.env.body = reservation;
  // The bytes are here already; what remains is to take them apart.
  const type = c.req.header("content-type") ?? "";
  const whole = new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: { "content-type": type },
  });
  const form: Form = {};
  const fields = await whole.formData().catch(() => {
    // Something else than a form has no fields; a form that cannot be read is the sender's mistake.
    if (!/^\s*(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(type)) return [];
    throw new ApiError("invalid_value", "This form cannot be read: send it again.");
  });
  for (const [name, value] of fields) {
    if (typeof value === "string") form[name] = value;
  }
  return form;
}

/**
 * Who is asking, for counting attempts: the peer's address, or what a trusted proxy says it is. Of
 * IPv6 the network counts: one house has 2^64 addresses.
 */
export function clientAddress(c: SiteContext): string {
  const hops = c.env.config.site.trustedProxies;
  const forwarded = c.req.header("x-forwarded-for")?.split(",").map((hop) => hop.trim()) ?? [];
  const { remoteAddr } = c.env.info;
  const peer = "hostname" in remoteAddr ? remoteAddr.hostname : "local";
  const address = withoutPort(hops === 0 ? peer : forwarded.at(-hops) ?? peer);
  return address.includes(":") ? prefixOf(address) : address;
}

/** The network they ask from: a /24 of IPv4, a /64 of IPv6. */
export function networkOf(c: SiteContext): string {
  const address = clientAddress(c);
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
