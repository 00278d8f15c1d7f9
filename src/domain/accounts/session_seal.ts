import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** A session: its public hash, and the secret that only its browser has. */
export interface SessionSecret {
  readonly hash: string;
  readonly secret: string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function ticketHash(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64url");
}

/** AES-256-GCM with a key from the session's secret and a ticket: both are random and the key is used once. */
export function sealText(secret: string, ticket: string, text: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sealingKey(secret, ticket), nonce);
  const sealed = [cipher.update(text, "utf8"), cipher.final()];
  return new Uint8Array([...nonce, ...cipher.getAuthTag(), ...sealed.flatMap((part) => [...part])]);
}

export function unsealText(secret: string, ticket: string, sealed: Uint8Array): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", sealingKey(secret, ticket), nonce);
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = sealed.subarray(NONCE_BYTES + TAG_BYTES);
  return decipher.update(text, undefined, "utf8") + decipher.final("utf8");
}

function sealingKey(secret: string, ticket: string): Uint8Array {
  return createHash("sha256").update(`grant:${secret}:${ticket}`).digest();
}
