import type { Adapter, ModelType } from "../src/upstream/adapter.ts";
import { BadProvider, formatIssue, readProvider } from "./dialect/provider_file.ts";
import { adapterOf } from "./dialect/file_adapter.ts";
import { openAdapters } from "./registry.ts";
import type { Simulator } from "./simulator/simulator.ts";

/** Requests in flight keep the version they started with. Older versions than these are evicted. */
const VERSIONS_MAX = 8;

export type OpenedFile =
  | { readonly types: readonly ModelType[]; readonly hasBaseUrl: boolean }
  /** Each as `line:column where: what`. */
  | { readonly issues: readonly string[] };

/** The shipped adapters and those of the operator's own files. A gateway has one of these. */
export class Adapters {
  readonly shipped: ReadonlyMap<string, Adapter>;
  /** By file, then by the name that holds the file's version; the newest version is last. */
  readonly #own = new Map<string, Map<string, Adapter>>();

  constructor(simulator?: Simulator) {
    this.shipped = openAdapters(simulator);
  }

  get(name: string): Adapter | undefined {
    return this.shipped.get(name) ?? this.#own.get(fileOf(name))?.get(name);
  }

  /** Reads the text of an operator's file. `name` is `file@version`. */
  open(name: string, source: string): OpenedFile {
    let adapter: Adapter;
    try {
      adapter = this.get(name) ?? adapterOf(readProvider("", source));
    } catch (error) {
      if (!(error instanceof BadProvider)) throw error;
      return { issues: error.issues.map(formatIssue) };
    }
    this.#keep(name, adapter);
    return { types: adapter.types, hasBaseUrl: adapter.baseUrl !== null };
  }

  #keep(name: string, adapter: Adapter): void {
    const file = fileOf(name);
    const versions = this.#own.get(file) ?? new Map<string, Adapter>();
    this.#own.set(file, versions);
    versions.delete(name);
    versions.set(name, adapter);
    if (versions.size > VERSIONS_MAX) versions.delete(versions.keys().next().value!);
  }
}

function fileOf(name: string): string {
  return name.slice(0, name.lastIndexOf("@"));
}
