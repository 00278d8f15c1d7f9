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
import { type ConfigFault, FAULTS_MAX, formatPath, type Path } from "./faults.ts";
import { type Environment, fillReferences } from "./references.ts";
import type { SourceMap } from "./source_map.ts";
import { didYouMean } from "../../lib/suggest.ts";

/** What a document holds, with references filled in and aliases followed. */
export interface Values {
  value: unknown;
  /** The same without the environment's values. */
  written: unknown;
  /** Paths of texts that are made of environment references only. */
  references: ReadonlySet<string>;
  /** Paths of blocks that lack keys because a merge key was refused. */
  incomplete: ReadonlySet<string>;
  faults: ConfigFault[];
}

const DEPTH_MAX = 64;
/** Aliases may repeat values, not multiply them: past this a file is a bomb, not a declaration. */
const ALIASED_VALUES_MAX = 100_000;

type Both = [filled: unknown, written: unknown];
const NOTHING: Both = [null, null];

export function readValues(
  document: Document.Parsed,
  places: SourceMap,
  environment: Environment,
): Values {
  const reader = new Reader(places, environment);
  const { references, incomplete } = reader;
  try {
    const [value, written] = reader.read(document.contents, [], null);
    return { value, written, references, incomplete, faults: reader.faults };
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    const fault = places.fault(error.path, { message: error.message });
    return { value: undefined, written: undefined, references, incomplete, faults: [fault] };
  }
}

/** Ends the reading: what is left would only cost time. */
class TooMuch extends Error {
  constructor(readonly path: Path, message: string) {
    super(message);
  }
}

class Reader {
  readonly references = new Set<string>();
  readonly incomplete = new Set<string>();
  readonly faults: ConfigFault[] = [];
  readonly #anchors = new Map<string, Node>();
  /** Blocks and lists whose end has not come yet; an alias to one of them would never end. */
  readonly #open = new Set<Node>();
  #aliasedValues = 0;

  constructor(readonly places: SourceMap, readonly environment: Environment) {}

  /** `alias` is the path of the outermost alias that led here. */
  read(node: Node | null, path: Path, alias: Path | null): Both {
    if (alias !== null && ++this.#aliasedValues > ALIASED_VALUES_MAX) {
      throw new TooMuch(
        alias,
        `aliases repeat more than ${ALIASED_VALUES_MAX.toLocaleString("en")} values`,
      );
    }
    if (path.length > DEPTH_MAX) {
      throw new TooMuch(path.slice(0, 1), `is nested deeper than ${DEPTH_MAX} levels`);
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
    // Followed by hand: the parser's own way searches the whole document for every alias.
    const target = this.places.targets.get(node) ?? this.#anchors.get(node.source);
    if (target === undefined) {
      const message = `there is no anchor &${node.source} before this alias`;
      this.#report(path, message, didYouMean(node.source, this.#anchors.keys()));
      return NOTHING;
    }
    this.places.targets.set(node, target);
    if (this.#open.has(target)) {
      this.places.targets.delete(node);
      this.#report(path, `the alias *${node.source} stands inside what it repeats`);
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
      const refused = whyRefused(key, filled);
      if (refused !== null) {
        if (key === "<<") this.incomplete.add(formatPath(path));
        if (this.faults.length < FAULTS_MAX) {
          this.faults.push(this.places.faultAt(keyNode, inner, refused));
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
    const { text, isReference, faults } = fillReferences(raw, this.environment);
    if (isReference) this.references.add(formatPath(path));
    for (const { message, suggestion } of faults) this.#report(path, message, suggestion);
    return text;
  }

  #report(path: Path, message: string, suggestion?: string): void {
    if (this.faults.length < FAULTS_MAX) {
      this.faults.push(this.places.fault(path, { message, suggestion }));
    }
  }
}

function whyRefused(
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
