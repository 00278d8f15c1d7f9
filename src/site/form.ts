import { readClientAddress } from "../http/client_address.ts";
import { ApiError } from "../lib/api_error.ts";
import type { SiteContext } from "./context.ts";

const FORM_BYTES_MAX = 256 * 1024;

type Form = Record<string, string>;

/** Parsed forms by request: the CSRF check reads a form before its page does. */
const forms = new WeakMap<Request, Promise<Form>>();

/** The text fields of a form, by name. Files are left out. */
export function readSiteForm(c: SiteContext): Promise<Form> {
  const { raw } = c.req;
  const form = forms.get(raw) ?? read(c);
  forms.set(raw, form);
  return form;
}

async function read(c: SiteContext): Promise<Form> {
  if (Number(c.req.header("content-length") ?? Infinity) > FORM_BYTES_MAX) {
    throw new ApiError("payload_too_large", "The form is too large.");
  }
  const { bytes, reservation } = await c.env.bodies.read(c.req.raw, {
    owner: `address ${clientAddress(c)}`,
    bytesMax: FORM_BYTES_MAX,
    limits: c.env.config.limits,
  });
  c.env.body = reservation;
  const type = c.req.header("content-type") ?? "";
  const whole = new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: { "content-type": type },
  });
  const form: Form = {};
  const fields = await whole.formData().catch((error) => {
    if (!(error instanceof TypeError)) throw error;
    // Another content type has no fields; a form that cannot be parsed is a client error.
    if (!/^\s*(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(type)) return [];
    throw new ApiError("invalid_value", "The form could not be read. Please send it again.");
  });
  for (const [name, value] of fields) {
    if (typeof value === "string") form[name] = value;
  }
  return form;
}

/** The client address that attempts are counted by. IPv6 addresses count as their /64 network: one subscriber has 2^64 of them. */
export function clientAddress(c: SiteContext): string {
  const address = readClientAddress(c.env, c.req.raw.headers);
  return address.includes(":") ? prefixOf(address) : address;
}

/** The network of the client: a /24 of IPv4, a /64 of IPv6. */
export function networkOf(c: SiteContext): string {
  const address = clientAddress(c);
  return address.replace(/^(\d+\.\d+\.\d+)\.\d+$/, "$1.0/24");
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
