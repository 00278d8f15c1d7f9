import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts bodies with AES-256-GCM. Each has a key of its own, from the operator's key and its place: any number of
 * them may be sealed, and none can be read as another's. The first of the operator's keys seals, all of them open.
 */
export class BodySeal {
  constructor(private readonly operatorKeys: readonly string[]) {}

  get hasKey(): boolean {
    return this.operatorKeys.length > 0;
  }

  seal(bytes: Uint8Array, place: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", keyFor(this.operatorKeys[0]!, place), nonce);
    return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  /** Null if none of the keys has sealed it for this place. */
  open(sealed: Uint8Array, place: string): Uint8Array | null {
    for (const operatorKey of this.operatorKeys) {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const cipher = createDecipheriv("aes-256-gcm", keyFor(operatorKey, place), nonce);
      cipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const bytes = cipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([bytes, cipher.final()]);
      } catch {
        // The tag does not match, the only error that `final` has: another key may.
      }
    }
    return null;
  }
}

function keyFor(operatorKey: string, place: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", operatorKey, place, "tollgate request bodies", 32));
}
