import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type Pair,
  type YAMLMap,
} from "yaml";
import { formatPath, type IssueText, type Path, type SourceIssue } from "./issue.ts";

type KeyValue = Pair<Node, Node | null>;
type Range = [from: number, to: number];

const SOURCE_TEXT_MAX = 80;

/** Finds the position of each value in the file. */
export class SourceMap {
  /** The node that each alias refers to; filled while the values are read. */
  readonly targets = new Map<Alias, Node>();
  readonly #byKey = new WeakMap<YAMLMap, ReadonlyMap<string, KeyValue>>();

  constructor(private readonly document: Document, private readonly lines: LineCounter) {}

  /** An issue at a value, or at its key. A missing value is reported at its nearest parent. */
  issue(path: Path, text: IssueText, at: "key" | "value" = "value"): SourceIssue {
    return this.#issueInRange(this.#range(path, at), path, text);
  }

  /** An issue at a node that its path does not identify, such as the second of two equal keys. */
  issueAtNode(node: Node, path: Path, text: IssueText): SourceIssue {
    return this.#issueInRange(rangeOf(node) ?? [0, 1], path, text);
  }

  /** An issue in a text that could not be parsed. */
  issueAtOffset(offset: number, text: IssueText): SourceIssue {
    return this.#issueInRange([offset, offset + 1], [], text);
  }

  /** The value as written in the file, for messages: never the value of an environment variable. */
  sourceText(path: Path): string | undefined {
    const node = this.#node(path);
    if (!isScalar(node)) return undefined;
    if (node.value === null || node.value === undefined) return undefined;
    const text = typeof node.value === "string"
      ? JSON.stringify(node.value)
      : node.source ?? String(node.value);
    return text.length > SOURCE_TEXT_MAX
      ? `${text.slice(0, SOURCE_TEXT_MAX).toWellFormed()}…`
      : text;
  }

  #issueInRange(
    [from, to]: Range,
    path: Path,
    { message, suggestion, severity }: IssueText,
  ): SourceIssue {
    const { line, col } = this.lines.linePos(from);
    const ends = this.lines.linePos(to);
    const length = ends.line === line ? to - from : Number.MAX_SAFE_INTEGER;
    return {
      severity: severity ?? "error",
      line: Math.max(1, line),
      column: Math.max(1, col),
      length: Math.max(1, length),
      path: formatPath(path),
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
    };
  }

  #node(path: Path): Node | null {
    let node: Node | null = this.document.contents;
    for (const part of path) {
      node = this.#child(node, part)?.node ?? null;
      if (node === null) return null;
    }
    return this.#resolve(node);
  }

  #resolve(node: Node | null): Node | null {
    return isAlias(node) ? this.targets.get(node) ?? null : node;
  }

  #child(
    parent: Node | null,
    part: string | number,
  ): { key: Node | null; node: Node | null } | null {
    const node = this.#resolve(parent);
    if (isMap(node)) {
      const pair = this.#pairs(node).get(String(part));
      return pair === undefined ? null : { key: pair.key, node: pair.value };
    }
    if (isSeq(node)) {
      const item = node.items[Number(part)] as Node | undefined;
      return item === undefined ? null : { key: null, node: item };
    }
    return null;
  }

  /** The first of each key, as `readValues` takes it; cached, because a block may have many issues. */
  #pairs(node: YAMLMap): ReadonlyMap<string, KeyValue> {
    const cached = this.#byKey.get(node);
    if (cached !== undefined) return cached;
    const pairs = new Map<string, KeyValue>();
    for (const pair of node.items as KeyValue[]) {
      const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
      if (!pairs.has(key)) pairs.set(key, pair);
    }
    this.#byKey.set(node, pairs);
    return pairs;
  }

  #range(path: Path, at: "key" | "value"): Range {
    let node: Node | null = this.document.contents;
    let found: Range = rangeOf(node) ?? [0, 1];
    for (const [index, part] of path.entries()) {
      const child = this.#child(node, part);
      if (child === null) break;
      const isLast = index === path.length - 1;
      const key = rangeOf(child.key);
      const isInline = isScalar(child.node) || isAlias(child.node);
      // Underlines the key of a block (which has several lines) or of an empty value.
      const inner = key === null || isInline && !isEmpty(child.node!) ? rangeOf(child.node) : key;
      found = (isLast && at === "key" ? key : inner) ?? key ?? found;
      node = child.node;
    }
    return found;
  }
}

function isEmpty(node: Node): boolean {
  return node.range?.[0] === node.range?.[1];
}

function rangeOf(node: Node | null | undefined): Range | null {
  const range = node?.range;
  if (range === undefined || range === null) return null;
  // An item that is a map starts at its first key: underline that key only.
  if (isMap(node)) {
    return rangeOf(node.items[0]?.key as Node | undefined) ?? [range[0], range[0] + 1];
  }
  return [range[0], range[1]];
}
