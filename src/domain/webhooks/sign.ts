import { Buffer } from "node:buffer";
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** A secret as Standard Webhooks writes it. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The bytes to sign with; null when this is not a secret. */
export function secretBytes(secret: string): Uint8Array | null {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, "base64");
  return bytes.length >= 24 && bytes.length <= 64 ? bytes : null;
}

/** One signature, without its version. */
export function signature(
  key: Uint8Array,
  id: string,
  timestamp: string,
  body: string | Uint8Array,
): string {
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
}

/** The headers of one attempt. Several secrets, during a rotation, give several signatures. */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  timestampSeconds: number,
  body: string,
): Record<string, string> {
  const timestamp = String(timestampSeconds);
  const signatures = secrets.map((secret) => {
    const key = secretBytes(secret);
    if (key === null) throw new Error("Cannot sign: the stored secret is not one");
    return `v1,${signature(key, id, timestamp, body)}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
