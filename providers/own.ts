import type { ModelType } from "../src/lib/model_types.ts";
import type { Adapter } from "../src/upstream/adapter.ts";
import { BadProvider, readProvider } from "./dialect/declaration.ts";
import { adapterOf } from "./dialect/declare.ts";
import { ADAPTERS } from "./registry.ts";

/**
 * Adapters of an operator's own files, by names that hold the version of the file: plans in flight keep
 * the adapter they began with.
 */
const OWN = new Map<string, Adapter>();

/** A shipped adapter, or one that `openAdapter` opened. */
export const EVERY_ADAPTER = {
  get: (name: string): Adapter | undefined => ADAPTERS.get(name) ?? OWN.get(name),
};

export type Opened =
  | { readonly types: readonly ModelType[]; readonly hasBaseUrl: boolean }
  /** Each as `line:column where: what`. */
  | { readonly issues: readonly string[] };

/** Reads an operator's file and keeps the adapter under the name. */
export function openAdapter(name: string, source: string): Opened {
  try {
    const adapter = OWN.get(name) ?? adapterOf(readProvider("", source));
    OWN.set(name, adapter);
    return { types: adapter.types, hasBaseUrl: adapter.baseUrl !== null };
  } catch (error) {
    if (!(error instanceof BadProvider)) throw error;
    return { issues: error.faults.map((fault) => fault.slice(1)) };
  }
}
