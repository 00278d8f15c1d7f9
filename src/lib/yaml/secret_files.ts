import type { Environment } from "./references.ts";

const PREFIX = "file:";
/** A key has some hundred bytes; a device or a log would have no end. */
const BYTES_MAX = 64 * 1024;

/** The path of a reference to a file, `${file:/run/secrets/openai}`; null for one to a variable. */
export function secretFileOf(name: string): string | null {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : null;
}

/**
 * The environment, where `file:/path` is a variable too: its value is the content of that file at the moment it is
 * asked for, without the line break at its end. A file that cannot be read counts as unset.
 */
export function withSecretFiles(environment: Environment): Record<string, string | undefined> {
  return new Proxy({ ...environment }, {
    get(variables, name) {
      if (typeof name !== "string") return undefined;
      const path = secretFileOf(name);
      return path === null ? variables[name] : readSecretFile(path);
    },
  });
}

function readSecretFile(path: string): string | undefined {
  try {
    const { isFile, size } = Deno.statSync(path);
    if (!isFile || size > BYTES_MAX) return undefined;
    return Deno.readTextFileSync(path).replace(/\r?\n$/, "");
  } catch {
    // Missing, or no permission: the issue of the configuration names the path.
    return undefined;
  }
}
