import type { AnySchemaObject } from "ajv/dist/2020.js";
import { type ConfigIssue, formatPath, ISSUES_MAX, type Path } from "./issues.ts";
import type { RouteEntry } from "./gateway_file.ts";
import type { ModelType } from "../../model_types/model_types.ts";
import type { LoadedYaml } from "../../lib/yaml/load_yaml.ts";
import type { IssueText } from "../../lib/yaml/issue.ts";
import { nearest } from "../../lib/suggest.ts";

/** What this build supports. Passed in, because the configuration layer may not import the layers above it. */
export interface BuildCapabilities {
  /** Adapters by name, with the model types that each serves. */
  adapters: ReadonlyMap<string, { types: readonly ModelType[] }>;
  /** Adapters without a default URL: a provider must set base_url. */
  baseUrlRequired?: ReadonlySet<string>;
  /**
   * Opens an adapter from the text of an operator's own file. `name` contains the hash of the text. Left
   * out: configurations have no adapters of their own.
   */
  openAdapter?(name: string, source: string): OpenedAdapter;
  /** Operations that a route may name. */
  operations: ReadonlyMap<string, OperationSpec>;
  /** The routes of a configuration without `routes`. */
  standardRoutes: readonly RouteEntry[];
  /** Names of the request schemas a generation route may use. */
  requests: ReadonlySet<string>;
  /** One of these schemas. Left out: what an operator's own schema names is not compared with it. */
  requestSchema?(name: string): AnySchemaObject | undefined;
}

/** What the configuration needs to know of an operation. */
export interface OperationSpec {
  /** Parameter that the path of its route must have. */
  readonly parameter?: string | undefined;
  /** Model types that it serves; a route of an operation with several names one of them. */
  readonly serves: readonly ModelType[];
}

export type OpenedAdapter =
  | { readonly types: readonly ModelType[]; readonly hasBaseUrl: boolean }
  /** Each as `line:column path: message`. */
  | { readonly issues: readonly string[] };

/** Names that a reference may use; null when the section that holds them is invalid. */
export type Names = { has(name: string): boolean; keys(): Iterable<string> } | null;

/** A suggestion compares with every name: limited, so that a bad file costs little time. */
const SUGGESTIONS_MAX = 100;

/** Collects issues, and skips values that have one already. */
export class Checker {
  readonly issues: ConfigIssue[] = [];
  readonly #invalid: Set<string>;
  readonly #reported = { error: 0, warning: 0 };
  #suggestions = 0;

  constructor(
    readonly loaded: LoadedYaml,
    readonly capabilities: BuildCapabilities,
    before: readonly ConfigIssue[],
  ) {
    this.#invalid = new Set([...before.map((issue) => issue.path), ...loaded.incomplete]);
  }

  report(path: Path, text: IssueText, at?: "key" | "value"): void {
    // Counted separately: any number of warnings leaves room for errors.
    const severity = text.severity ?? "error";
    if (this.#reported[severity] >= ISSUES_MAX || this.isInvalid(path)) return;
    this.#reported[severity]++;
    this.issues.push(this.loaded.sourceMap.issue(path, text, at));
  }

  /** Whether the value has an issue of its own: then other checks must not rely on it. */
  isInvalid(path: Path): boolean {
    return this.#invalid.has(formatPath(path));
  }

  /** The value as written in the file. Messages use this, because the value may come from the environment. */
  sourceText(path: Path): string {
    return this.loaded.sourceMap.sourceText(path) ?? "";
  }

  /** The keys of a section, and names that exist without being configured. */
  names(path: Path, section: unknown, ...builtIn: string[]): Names {
    if (!isBlock(section) || this.isInvalid(path)) return null;
    return new Set([...builtIn, ...Object.keys(section)]);
  }

  /** Reports a name that does not exist, and suggests the nearest one that does. */
  reference(path: Path, name: string, what: string, names: Names): void {
    if (names === null || names.has(name) || this.isInvalid(path)) return;
    const nearestName = this.suggest(name, names);
    const suggestion = nearestName === undefined ? undefined : `Did you mean "${nearestName}"?`;
    this.report(path, { message: `there is no ${what} ${this.sourceText(path)}`, suggestion });
  }

  /** The name that the operator probably meant. */
  suggest(name: string, names: NonNullable<Names>): string | undefined {
    return this.#suggestions++ < SUGGESTIONS_MAX ? nearest(name, names.keys()) : undefined;
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
