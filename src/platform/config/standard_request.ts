import type { ModelType } from "./model_type_specs.ts";

/** The default request schema of a generation endpoint. */
export function requestOf(type: ModelType): string {
  return `${type}s_generations`;
}
