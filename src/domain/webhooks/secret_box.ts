import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const SEALED = "sealed_v1:";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts secrets that must be used and so cannot be hashed. With the operator's key (`SECRETS_KEY`) they are sealed
 * with AES-256-GCM, each bound to its row: a stolen copy of the database cannot sign. Without the key they are stored
 * in plain text. What was stored before the key was set stays readable.
 */
export interface SecretBox {
  seal(secret: string, row: string): string;
  unseal(stored: string, row: string): string;
}

/** Boxes of different purposes do not open each other's secrets. */
export function openSecretBox(
  operatorKey: string | undefined,
  purpose = "webhook secrets",
): SecretBox {
  const key = operatorKey === undefined
    ? null
    : Buffer.from(hkdfSync("sha256", operatorKey, "", `tollgate ${purpose}`, 32));
  return {
    seal(secret, row) {
      if (key === null) return secret;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      cipher.setAAD(Buffer.from(row));
      const parts = [
        nonce,
        cipher.update(Buffer.from(secret)),
        cipher.final(),
        cipher.getAuthTag(),
      ];
      return SEALED + Buffer.concat(parts).toString("base64");
    },
    unseal(stored, row) {
      if (!stored.startsWith(SEALED)) return stored;
      if (key === null) throw new Error(`The ${purpose} are sealed: set SECRETS_KEY to read them`);
      const bytes = Buffer.from(stored.slice(SEALED.length), "base64");
      const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
      cipher.setAAD(Buffer.from(row));
      cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, cipher.final()]).toString("utf8");
    },
  };
}
