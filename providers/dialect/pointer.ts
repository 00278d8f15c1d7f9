import { count } from "./json.ts";

/** A JSON pointer (RFC 6901), split into its steps once. */
export type Pointer = readonly string[];

export function pointer(written: string): Pointer {
  return written.split("/").slice(1).map((step) =>
    step.replaceAll("~1", "/").replaceAll("~0", "~")
  );
}

/** One pointer, several in order of preference, or none. */
export function pointers(written: string | readonly string[] | undefined): readonly Pointer[] {
  if (written === undefined) return [];
  return (typeof written === "string" ? [written] : written).map(pointer);
}

export function follow(root: unknown, path: Pointer): unknown {
  let here = root;
  for (const step of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<string, unknown>)[step];
  }
  return here;
}

/** The first count that one of the pointers finds; null without one. */
export function countAt(root: unknown, paths: readonly Pointer[]): number | null {
  for (const path of paths) {
    const found = count(follow(root, path));
    if (found !== null) return found;
  }
  return null;
}
