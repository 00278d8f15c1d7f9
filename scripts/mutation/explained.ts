import { changeOf, type Mutant } from "./mutants.ts";

/** Why no test tells a mutant from the original, or why none needs to. */
export interface Explanation {
  path: string;
  /** The source line, without indentation. */
  line: string;
  /** As the report writes it, such as `> → >=`; unset: every mutant of the line. */
  change?: string;
  reason: string;
}

export async function readExplanations(file: string): Promise<Explanation[]> {
  return JSON.parse(await Deno.readTextFile(file)) as Explanation[];
}

export function findExplanation(
  explanations: readonly Explanation[],
  mutant: Mutant,
): Explanation | undefined {
  return explanations.find(({ path, line, change }) =>
    path === mutant.path && line === mutant.context &&
    (change === undefined || change === changeOf(mutant))
  );
}

/** Explanations, of the files that were mutated, of which no mutant is left that lives. */
export function unusedExplanations(
  explanations: readonly Explanation[],
  living: readonly Mutant[],
  paths: ReadonlySet<string>,
): Explanation[] {
  const used = new Set(living.map((mutant) => findExplanation(explanations, mutant)));
  return explanations.filter((one) => paths.has(one.path) && !used.has(one));
}
