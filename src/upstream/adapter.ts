import type { ModelType } from "../base/model_types.ts";

/** What the declaration needs to know of an adapter before any request is made. */
export interface AdapterFacts {
  readonly types: readonly ModelType[];
}
