import { VERSION } from "./check_pattern.ts";

/**
 * The patterns that the checker found to be linear, so that a run of the tests checks new ones only: all
 * together take minutes. Written by `UPDATE_PATTERNS=1 deno test -A test/patterns`; another version of the
 * checker starts again.
 */
const FILE = new URL("./proven_patterns.json", import.meta.url);

interface ProvenPatterns {
  checker: string;
  patterns: string[];
}

const IS_UPDATE = Deno.env.has("UPDATE_PATTERNS");

/** None for an update: everything is checked again. */
export async function readProven(): Promise<ReadonlySet<string>> {
  const { checker, patterns }: ProvenPatterns = JSON.parse(await Deno.readTextFile(FILE));
  return new Set(IS_UPDATE || checker !== VERSION ? [] : patterns);
}

export async function writeProven(linear: readonly string[]): Promise<void> {
  if (!IS_UPDATE) return;
  const proven: ProvenPatterns = { checker: VERSION, patterns: linear.toSorted() };
  await Deno.writeTextFile(FILE, JSON.stringify(proven, null, 2) + "\n");
}
