/** How a model is told to think: not at all, by a number of tokens, or by level. */
export type Generation = "thoughtless" | "budgets" | "levels";

/** Judged by name; a name without a number (`gemini-flash-latest`) is of the newest. */
export function generationOf(model: string): Generation {
  if (/gemini-(?:1|2\.0)|gemma|learnlm|aqa/.test(model)) return "thoughtless";
  return model.includes("gemini-2.5") ? "budgets" : "levels";
}
