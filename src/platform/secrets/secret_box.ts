import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { type SecretBox, UnreadableSecret } from "./types.ts";

const SEALED = "sealed_v1:";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The keys of `SECRETS_KEY`: the first seals, all open. Boxes of different purposes do not open each other's secrets.
 */
export function openSecretBox(
  operatorKeys: readonly string[],
  purpose = "webhook secrets",
): SecretBox {
  const keys = operatorKeys.map((key) => deriveKey(key, purpose));
  const [first] = keys;
  return {
    hasKey: first !== undefined,
    seal: (secret, row) => first === undefined ? secret : seal(first, secret, row),
    unseal(stored, row) {
      if (!isSealed(stored)) return stored;
      for (const key of keys) {
        const secret = tryOpen(key, stored, row);
        if (secret !== null) return secret;
      }
      throw new UnreadableSecret(
        keys.length === 0
          ? "A secret is sealed: set SECRETS_KEY to read it"
          : "A secret was sealed with a key that SECRETS_KEY does not have",
      );
    },
    isCurrent: (stored, row) =>
      first === undefined ? !isSealed(stored) : tryOpen(first, stored, row) !== null,
  };
}

function deriveKey(operatorKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", operatorKey, "", `tollgate ${purpose}`, 32));
}

function isSealed(stored: string): boolean {
  return stored.startsWith(SEALED);
}

function seal(key: Buffer, secret: string, row: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(row));
  const parts = [nonce, cipher.update(Buffer.from(secret)), cipher.final(), cipher.getAuthTag()];
  return SEALED + Buffer.concat(parts).toString("base64");
}

/** Null when it is plain text, or when another key has sealed it, or for another row. */
function tryOpen(key: Buffer, stored: string, row: string): string | null {
  if (!isSealed(stored)) return null;
  const bytes = Buffer.from(stored.slice(SEALED.length), "base64");
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
  cipher.setAAD(Buffer.from(row));
  cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([text, cipher.final()]).toString("utf8");
  } catch {
    // The tag does not match: the only error that `final` has.
    return null;
  }
}
