import { isCollection, isMap, isPair, isScalar, isSeq, type Node, parseDocument } from "yaml";
import type { Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { renderFlow, renderItem } from "./render_yaml.ts";

/** A value at this place; keys of mappings and places in lists. */
export interface YamlEdit {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The text has something where an edit needs a mapping or a list, such as an alias. */
export class YamlEditError extends Error {
  override readonly name = "YamlEditError";
}

/**
 * Sets values in a YAML text that is valid, and leaves every other character as it is: comments, order, quotes and
 * alignment are the operator's. The last name of a path may be new; so may the place behind the end of a list.
 */
export function editYaml(text: string, edits: readonly YamlEdit[]): string {
  const root = parseDocument(text, { stringKeys: true }).contents as Node | null;
  const splices = edits.map((edit) => spliceOf(text, root, edit))
    // Stable: what is added at one place stays in order.
    .sort((a, b) => a.from - b.from);
  let result = "";
  let at = 0;
  for (const { from, to, text: written } of splices) {
    result += text.slice(at, from) + written;
    at = to;
  }
  return result + text.slice(at);
}

function spliceOf(text: string, root: Node | null, { path, value }: YamlEdit): Splice {
  const parent = path.slice(0, -1).reduce<Node | null>((node, name) => childOf(node, name), root);
  const name = path.at(-1)!;
  const found = childOf(parent, name);
  if (found !== null) return { from: found.range![0], to: endOf(found), text: renderFlow(value) };
  if (isMap(parent)) return addKey(text, parent, String(name), value);
  if (isSeq(parent)) return addItem(text, parent, value);
  throw new YamlEditError(`${path.slice(0, -1).join(".")} is not written out in the file`);
}

function childOf(node: Node | null, name: string | number): Node | null {
  if (isSeq(node)) return (node.items[Number(name)] as Node | undefined) ?? null;
  return pairsOf(node).find(({ key }) => key.value === name)?.value ?? null;
}

function pairsOf(node: Node | null): Pair<Scalar, Node | null>[] {
  return isMap(node) ? (node.items as Pair<Scalar, Node | null>[]) : [];
}

function addKey(text: string, map: YAMLMap, name: string, value: unknown): Splice {
  const written = `${name}: ${renderFlow(value)}`;
  if (map.flow) return addToFlow(map, written);
  return insert(
    lineEnd(text, endOf(map)),
    `\n${" ".repeat(columnOf(text, startOf(map)))}${written}`,
  );
}

function addItem(text: string, list: YAMLSeq, value: unknown): Splice {
  if (list.flow) return addToFlow(list, renderFlow(value));
  // A list can begin at the column of its key: the column is that of its own first dash.
  const dash = text.lastIndexOf("-", startOf(list.items[0] as Node) - 1);
  const item = renderItem(value, columnOf(text, dash));
  return insert(lineEnd(text, endOf(list)), `\n${item}`);
}

function addToFlow(collection: YAMLMap | YAMLSeq, written: string): Splice {
  const last = collection.items.at(-1);
  if (last === undefined) return insert(collection.range![0] + 1, ` ${written} `);
  return insert(endOf(last as Node), `, ${written}`);
}

function insert(at: number, text: string): Splice {
  return { from: at, to: at, text };
}

function startOf(node: Node | Pair): number {
  if (isPair(node)) return startOf(node.key as Node);
  if (isCollection(node) && !node.flow && node.items.length > 0) {
    return startOf(node.items[0] as Node);
  }
  return node.range![0];
}

/** Where the last character of a value is; what the parser says of a block includes the comments behind it. */
function endOf(node: Node | Pair): number {
  if (isPair(node)) return endOf((node.value ?? node.key) as Node);
  const last = isCollection(node) && !node.flow ? node.items.at(-1) : undefined;
  if (last !== undefined) return endOf(last as Node);
  const [from, to] = node.range!;
  return isScalar(node) && node.source === "" ? from : to;
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

/** The end of the line, behind a comment. */
function lineEnd(text: string, offset: number): number {
  const at = text.indexOf("\n", text[offset - 1] === "\n" ? offset - 1 : offset);
  return at === -1 ? text.length : at;
}
