import { dirname } from "node:path";
import { type Explanation, findExplanation } from "./explained.ts";
import { changeOf } from "./mutants.ts";
import type { Tried } from "./try_mutant.ts";

interface Counts {
  mutants: number;
  killed: number;
  explained: number;
  survived: number;
}

/** `src/domain/ledger/hold.ts:76: "insufficient" → ""`, with the line below it. */
export function describe({ mutant, state }: Tried): string {
  const remark = state === "survived" ? "" : ` (${state})`;
  return `${mutant.path}:${mutant.line}: ${changeOf(mutant)}${remark}\n    ${mutant.context}`;
}

/** A table with the score of each folder: killed mutants among those without an explanation. */
export function scoreTable(tried: readonly Tried[], explanations: readonly Explanation[]): string {
  const folders = new Map<string, Counts>();
  for (const one of tried) {
    for (const folder of [dirname(one.mutant.path), "all"]) {
      const counts = folders.get(folder) ?? { mutants: 0, killed: 0, explained: 0, survived: 0 };
      folders.set(folder, counts);
      counts.mutants++;
      counts[classOf(one, explanations)]++;
    }
  }
  const rows = [...folders].sort(([a], [b]) => a === "all" ? 1 : b === "all" ? -1 : a < b ? -1 : 1);
  return [
    "| folder | mutants | killed | explained | survived | score |",
    "|---|--:|--:|--:|--:|--:|",
    ...rows.map(([folder, { mutants, killed, explained, survived }]) =>
      `| ${folder} | ${mutants} | ${killed} | ${explained} | ${survived} | ${
        (100 * killed / Math.max(1, mutants - explained)).toFixed(1)
      } % |`
    ),
  ].join("\n");
}

export function isSurvivor(tried: Tried, explanations: readonly Explanation[]): boolean {
  return classOf(tried, explanations) === "survived";
}

function classOf(
  { mutant, state }: Tried,
  explanations: readonly Explanation[],
): "killed" | "explained" | "survived" {
  if (state === "killed") return "killed";
  return findExplanation(explanations, mutant) === undefined ? "survived" : "explained";
}
