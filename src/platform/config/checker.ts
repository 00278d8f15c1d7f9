import { type ConfigFault, FAULTS_MAX, formatPath, type Path } from "./faults.ts";
import type { ModelType } from "./model_type_specs.ts";
import type { LoadedYaml } from "./load.ts";
import type { FaultText } from "./source_map.ts";
import { nearest } from "../../lib/suggest.ts";

/** What this build can do; handed in, because the declaration knows nothing of the code above it. */
export interface BuildCapabilities {
  /** Adapters by name, with the types of model each can serve. */
  adapters: ReadonlyMap<string, { types: readonly ModelType[] }>;
  /** Adapters that have no address of their own: a provider must declare one. */
  addressNeeded?: ReadonlySet<string>;
  /**
   * Opens an adapter that a declaration brings along, from its file's text; asked for under a name that
   * holds the file's version. Left out: declarations bring none.
   */
  openAdapter?(name: string, source: string): OpenedAdapter;
  /** Operations that have a handler. */
  operations: ReadonlySet<string>;
  /** Names of the request schemas a generation route may use. */
  requests: ReadonlySet<string>;
}

export type OpenedAdapter =
  | { readonly types: readonly ModelType[]; readonly hasAddress: boolean }
  /** Each as `line:column where: what`. */
  | { readonly faults: readonly string[] };

/** Names that a reference may use; null when the section that holds them cannot be read. */
export type Names = { has(name: string): boolean; keys(): Iterable<string> } | null;

/** A guess compares with every name there is; a file with more misses than this has other troubles. */
const GUESSES_MAX = 100;

/** Collects faults, and leaves alone whatever the schema has already complained about. */
export class Checker {
  readonly faults: ConfigFault[] = [];
  readonly #spoiled: Set<string>;
  readonly #reported = { error: 0, warning: 0 };
  #guesses = 0;

  constructor(
    readonly loaded: LoadedYaml,
    readonly known: BuildCapabilities,
    before: readonly ConfigFault[],
  ) {
    this.#spoiled = new Set([...before.map((fault) => fault.path), ...loaded.incomplete]);
  }

  report(path: Path, text: FaultText, at?: "key" | "value"): void {
    // Counted apart, so that no number of warnings can hide an error.
    const severity = text.severity ?? "error";
    if (this.#reported[severity] >= FAULTS_MAX || this.isSpoiled(path)) return;
    this.#reported[severity]++;
    this.faults.push(this.loaded.places.fault(path, text, at));
  }

  /** Whether something is wrong with the value itself, so that nothing can be concluded from it. */
  isSpoiled(path: Path): boolean {
    return this.#spoiled.has(formatPath(path));
  }

  /** The value as it stands in the file. Messages use this: the value may come from the environment. */
  written(path: Path): string {
    return this.loaded.places.written(path) ?? "";
  }

  /** The keys of a section as names to refer to, and those that exist without being declared. */
  names(path: Path, section: unknown, ...undeclared: string[]): Names {
    if (!isBlock(section) || this.isSpoiled(path)) return null;
    return new Set([...undeclared, ...Object.keys(section)]);
  }

  /** A name that must exist; says so when it does not, with the nearest one that does. */
  reference(path: Path, name: string, what: string, names: Names): void {
    if (names === null || names.has(name) || this.isSpoiled(path)) return;
    const guess = this.guess(name, names);
    const suggestion = guess === undefined ? undefined : `Did you mean "${guess}"?`;
    this.report(path, { message: `there is no ${what} ${this.written(path)}`, suggestion });
  }

  /** The name that was probably meant. */
  guess(name: string, names: NonNullable<Names>): string | undefined {
    return this.#guesses++ < GUESSES_MAX ? nearest(name, names.keys()) : undefined;
  }
}

function isBlock(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as a block of keys; empty when it is anything else. */
export function blockOf(value: unknown): Record<string, unknown> {
  return isBlock(value) ? value : {};
}

/** The value as a list; empty when it is anything else. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
