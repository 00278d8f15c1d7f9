import type { Mutant } from "./mutants.ts";

/** A mutant that no test can tell from the original, or need not, and why. */
export interface Explanation {
  path: string;
  /** The source line, without indentation. */
  context: string;
  original: string;
  changed: string;
  reason: string;
}

export async function readExplanations(file: string): Promise<Explanation[]> {
  return JSON.parse(await Deno.readTextFile(file)) as Explanation[];
}

export function findExplanation(
  explanations: readonly Explanation[],
  mutant: Mutant,
): Explanation | undefined {
  return explanations.find((explained) =>
    explained.path === mutant.path && explained.context === mutant.context &&
    explained.original === mutant.original && explained.changed === mutant.changed
  );
}
