/**
 * Encrypts secrets that must be used and so cannot be hashed. With the operator's keys (`SECRETS_KEY`) they are sealed
 * with AES-256-GCM, each bound to its row: a stolen copy of the database cannot sign. Without a key they are stored
 * in plain text. What was stored before a key was set stays readable.
 */
export interface SecretBox {
  /** False: secrets are stored in plain text. */
  readonly hasKey: boolean;
  /** Seals with the first key. */
  seal(secret: string, row: string): string;
  /** Opens what any of the keys has sealed; throws `UnreadableSecret` when none has. */
  unseal(stored: string, row: string): string;
  /** Whether the first key has sealed it; without keys, whether it is plain text. */
  isCurrent(stored: string, row: string): boolean;
}

/** None of the keys in `SECRETS_KEY` opens a stored secret. */
export class UnreadableSecret extends Error {
  override readonly name = "UnreadableSecret";
}
