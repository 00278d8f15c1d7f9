import { resolve } from "node:path";

/** Names the place where this node keeps what other nodes do not see: a folder of a machine. */
export function findHostId(dataDir: string): string {
  return `${hostname()}:${resolve(dataDir)}`;
}

/** A host that does not tell its name is no place to keep anything: each start counts as another. */
function hostname(): string {
  try {
    return Deno.hostname();
  } catch {
    return crypto.randomUUID();
  }
}
