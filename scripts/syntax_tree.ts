import { parse } from "@babel/parser";

/** What is read of a node of Babel's syntax tree. */
export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  name?: string;
  operator?: string;
  value?: unknown;
  loc: { start: { line: number } };
  computed?: boolean;
  kind?: string;
  prefix?: boolean;
  id?: SyntaxNode;
  test?: SyntaxNode | null;
  left?: SyntaxNode;
  right?: SyntaxNode;
  argument?: SyntaxNode;
  expression?: SyntaxNode;
  consequent?: SyntaxNode;
  alternate?: SyntaxNode | null;
  callee?: SyntaxNode;
  object?: SyntaxNode;
  property?: SyntaxNode;
  key?: SyntaxNode;
  source?: SyntaxNode;
  local?: SyntaxNode;
  imported?: SyntaxNode;
  arguments?: SyntaxNode[];
  block?: SyntaxNode;
  finalizer?: SyntaxNode | null;
  body?: SyntaxNode | SyntaxNode[];
}

export function parseSource(path: string, text: string): SyntaxNode {
  const { program } = parse(text, {
    sourceType: "module",
    plugins: path.endsWith(".tsx") ? ["typescript", "jsx"] : ["typescript"],
  });
  return program as unknown as SyntaxNode;
}

/** The nodes directly below, in the order of the text. `without` leaves parts of a node out. */
export function childrenOf(node: SyntaxNode, without: readonly string[] = []): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (key === "loc" || key.endsWith("Comments") || without.includes(key)) continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === "string") children.push(child);
    }
  }
  return children;
}

/** A node and everything below it. */
export function* nodesIn(node: SyntaxNode): Generator<SyntaxNode> {
  const pending = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    yield next;
    pending.push(...childrenOf(next).reverse());
  }
}
