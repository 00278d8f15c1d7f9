/** How thinking is configured: not at all, by a budget of tokens, or by level. */
export type Generation = "thoughtless" | "budgets" | "levels";

/** Decided by the model's name; a name without a version (`gemini-flash-latest`) is the newest generation. */
export function generationOf(model: string): Generation {
  if (/gemini-(?:1|2\.0)|gemma|learnlm|aqa/.test(model)) return "thoughtless";
  return model.includes("gemini-2.5") ? "budgets" : "levels";
}
