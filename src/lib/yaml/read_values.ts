import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type YAMLMap,
} from "yaml";
import { formatPath, ISSUES_MAX, type Path, type SourceIssue } from "./issue.ts";
import { type Environment, fillReferences } from "./references.ts";
import type { SourceMap } from "./source_map.ts";
import { didYouMean } from "../suggest.ts";

/** The values of a document, with references filled in and aliases resolved. */
export interface Values {
  value: unknown;
  /** The same values with `${NAME}` references as written. */
  written: unknown;
  /** Paths of strings that consist of environment references only. */
  references: ReadonlySet<string>;
  /** Paths of files that references name. */
  secretFiles: ReadonlySet<string>;
  /** Paths of blocks with missing keys because a merge key was rejected. */
  incomplete: ReadonlySet<string>;
  issues: SourceIssue[];
}

const DEPTH_MAX = 64;
/** Protects against aliases that expand exponentially ("billion laughs"). */
const ALIASED_VALUES_MAX = 100_000;

type Both = [filled: unknown, written: unknown];
const NOTHING: Both = [null, null];

export function readValues(
  document: Document.Parsed,
  sourceMap: SourceMap,
  environment: Environment | null,
): Values {
  const reader = new Reader(sourceMap, environment);
  const { references, secretFiles, incomplete } = reader;
  try {
    const [value, written] = reader.read(document.contents, [], null);
    return { value, written, references, secretFiles, incomplete, issues: reader.issues };
  } catch (error) {
    if (!(error instanceof ReadLimitError)) throw error;
    const issue = sourceMap.issue(error.path, { message: error.message });
    const none = { value: undefined, written: undefined };
    return { ...none, references, secretFiles, incomplete, issues: [issue] };
  }
}

/** Stops reading: the file exceeds a limit. */
class ReadLimitError extends Error {
  constructor(readonly path: Path, message: string) {
    super(message);
  }
}

class Reader {
  readonly references = new Set<string>();
  readonly secretFiles = new Set<string>();
  readonly incomplete = new Set<string>();
  readonly issues: SourceIssue[] = [];
  readonly #anchors = new Map<string, Node>();
  /** Blocks and lists that are being read: an alias to one of them would recurse without end. */
  readonly #open = new Set<Node>();
  #aliasedValues = 0;

  constructor(readonly sourceMap: SourceMap, readonly environment: Environment | null) {}

  /** `alias` is the path of the outermost alias that led here. */
  read(node: Node | null, path: Path, alias: Path | null): Both {
    if (alias !== null && ++this.#aliasedValues > ALIASED_VALUES_MAX) {
      throw new ReadLimitError(
        alias,
        `aliases repeat more than ${ALIASED_VALUES_MAX.toLocaleString("en")} values`,
      );
    }
    if (path.length > DEPTH_MAX) {
      throw new ReadLimitError(path.slice(0, 1), `is nested deeper than ${DEPTH_MAX} levels`);
    }
    if (isAlias(node)) return this.#readAlias(node, path, alias ?? path);
    if (node?.anchor !== undefined && alias === null) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) {
      if (typeof node.value !== "string") return [node.value, node.value];
      return [this.#fill(node.value, path), node.value];
    }
    if (!isMap(node) && !isSeq(node)) return NOTHING;
    this.#open.add(node);
    const both = isMap(node)
      ? this.#readMap(node, path, alias)
      : this.#readList(node.items as Node[], path, alias);
    this.#open.delete(node);
    return both;
  }

  #readAlias(node: Alias, path: Path, alias: Path): Both {
    // Not `Alias.resolve`: it searches the whole document for every alias.
    const target = this.sourceMap.targets.get(node) ?? this.#anchors.get(node.source);
    if (target === undefined) {
      const message = `there is no anchor &${node.source} before this alias`;
      this.#report(path, message, didYouMean(node.source, this.#anchors.keys()));
      return NOTHING;
    }
    this.sourceMap.targets.set(node, target);
    if (this.#open.has(target)) {
      this.sourceMap.targets.delete(node);
      this.#report(path, `the alias *${node.source} is inside its own anchor`);
      return NOTHING;
    }
    return this.read(target, path, alias);
  }

  #readMap(node: YAMLMap, path: Path, alias: Path | null): Both {
    const filled: Record<string, unknown> = {};
    const written: Record<string, unknown> = {};
    for (const { key: keyNode, value } of node.items as Pair<Node, Node | null>[]) {
      const key = isScalar(keyNode) ? String(keyNode.value) : String(keyNode);
      const inner = [...path, key];
      const rejection = reasonToRejectKey(key, filled);
      if (rejection !== null) {
        if (key === "<<") this.incomplete.add(formatPath(path));
        if (this.issues.length < ISSUES_MAX) {
          this.issues.push(this.sourceMap.issueAtNode(keyNode, inner, rejection));
        }
        continue;
      }
      [filled[key], written[key]] = this.read(value, inner, alias);
    }
    return [filled, written];
  }

  #readList(items: Node[], path: Path, alias: Path | null): Both {
    const filled: unknown[] = [];
    const written: unknown[] = [];
    for (const [index, item] of items.entries()) {
      [filled[index], written[index]] = this.read(item, [...path, index], alias);
    }
    return [filled, written];
  }

  #fill(raw: string, path: Path): string {
    if (this.environment === null) return raw;
    const { text, isReference, files, issues } = fillReferences(raw, this.environment);
    for (const file of files) this.secretFiles.add(file);
    if (isReference) this.references.add(formatPath(path));
    for (const { message, suggestion } of issues) this.#report(path, message, suggestion);
    return text;
  }

  #report(path: Path, message: string, suggestion?: string): void {
    if (this.issues.length < ISSUES_MAX) {
      this.issues.push(this.sourceMap.issue(path, { message, suggestion }));
    }
  }
}

function reasonToRejectKey(
  key: string,
  before: Record<string, unknown>,
): { message: string; suggestion?: string } | null {
  if (key === "<<") {
    return {
      message: "merge keys (<<) are not part of YAML 1.2",
      suggestion: "Write the keys out.",
    };
  }
  if (key === "__proto__") return { message: "this key is not allowed" };
  if (Object.hasOwn(before, key)) {
    return { message: "the key is written twice", suggestion: "Remove or rename one of them." };
  }
  return null;
}
