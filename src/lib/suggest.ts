import { distance } from "fastest-levenshtein";

const LONGEST = 200;

/** The name that was probably meant; nothing when none is near. */
export function nearest(wrong: string, names: Iterable<string>): string | undefined {
  // A word of one or two letters says nothing.
  if (wrong.length < 3 || wrong.length > LONGEST) return undefined;
  const word = wrong.toLowerCase();
  let best: string | undefined;
  // A third of the letters may be wrong, two swapped ones always.
  let bestDistance = (word.length === 3 ? 1 : Math.max(2, Math.floor(word.length / 3))) + 1;
  const partly: string[] = [];
  for (const name of names) {
    if (isPartOf(word, name)) partly.push(name);
    if (Math.abs(name.length - word.length) >= bestDistance) continue;
    const away = distance(word, name.toLowerCase());
    if (away < bestDistance) [best, bestDistance] = [name, away];
  }
  return best ?? (partly.length === 1 ? partly[0] : undefined);
}

/** Whole words count: `timeout` for `timeout_seconds`, `url` for `base_url`. */
function isPartOf(word: string, name: string): boolean {
  if (name.length <= word.length) return false;
  return `_${name.toLowerCase()}_`.replaceAll(/[.-]/g, "_").includes(`_${word}_`);
}

/** "Did you mean …?" for a near miss among the names that exist. */
export function didYouMean(wrong: string, names: Iterable<string>): string | undefined {
  const name = nearest(wrong, names);
  return name === undefined ? undefined : `Did you mean "${name}"?`;
}
