import { scryptSync } from "node:crypto";

/** What all nodes of a database must share. Secrets are compared by their fingerprints. */
export interface NodeFingerprints {
  /** The keys of `SECRETS_KEY`; the first seals. */
  readonly secrets_keys: readonly string[];
  readonly admin_token: string;
  /** Where files are, such as `s3:https://host/bucket`. */
  readonly file_store: string;
}

const FINGERPRINT_BYTES = 5;

/** Kept, as each takes a twentieth of a second. There are as many as the process has secrets. */
const fingerprints = new Map<string, string>();

/**
 * A short hash of a secret, for comparison only. It is slow to compute and keeps few bits, so that a copy of the
 * database does not help to guess the secret.
 */
export function fingerprint(secret: string): string {
  let known = fingerprints.get(secret);
  if (known === undefined) {
    known = scryptSync(secret, "tollgate fingerprint", FINGERPRINT_BYTES).toString("hex");
    fingerprints.set(secret, known);
  }
  return known;
}

/**
 * Why a node cannot serve beside another one that was there before; empty when it can. Each must open what the other
 * seals. The lists of keys may differ otherwise, so that nodes can be restarted one by one while a key is changed.
 */
export function disagreements(own: NodeFingerprints, other: NodeFingerprints): string[] {
  const reasons: string[] = [];
  if (!opensWhatSeals(own, other) || !opensWhatSeals(other, own)) {
    reasons.push(
      "SECRETS_KEY: this node and another one cannot open each other's secrets; add the new key at the end of " +
        "the list on every node before it becomes the first",
    );
  }
  if (own.admin_token !== other.admin_token) {
    reasons.push("ADMIN_TOKEN: another node has another one; give all nodes the same");
  }
  if (own.file_store !== other.file_store) {
    reasons.push(
      `storage.files: this node keeps files in ${own.file_store}, another one in ${other.file_store}; ` +
        "give all nodes the same bucket or folder",
    );
  }
  return reasons;
}

function opensWhatSeals(opening: NodeFingerprints, sealing: NodeFingerprints): boolean {
  const [first] = sealing.secrets_keys;
  return first === undefined || opening.secrets_keys.includes(first);
}
