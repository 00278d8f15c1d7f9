import { resolve } from "node:path";

/** Identifies the machine and folder where this node keeps files that other nodes do not see. */
export function findHostId(dataDir: string): string {
  return `${hostname()}:${resolve(dataDir)}`;
}

/** Without permission to read the host name every start counts as a host of its own. */
function hostname(): string {
  try {
    return Deno.hostname();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.NotSupported)) throw error;
    return crypto.randomUUID();
  }
}
