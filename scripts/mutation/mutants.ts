/**
 * Makes mutants of a TypeScript file: copies of it with one small mistake each. Not mutated: types, imports,
 * logging, the text of SQL, and the wording of errors, because no rule of the product hangs on them.
 */
import { childrenOf, parseSource, type SyntaxNode } from "../syntax_tree.ts";
import { changesOf } from "./changes.ts";

export interface Mutant {
  path: string;
  line: number;
  /** The source line, without indentation: it finds the place again after lines have moved. */
  context: string;
  start: number;
  end: number;
  original: string;
  changed: string;
}

export function mutantsOf(path: string, text: string): Mutant[] {
  const lines = text.split("\n");
  const mutants: Mutant[] = [];
  visit(parseSource(path, text), []);
  return mutants;

  function visit(node: SyntaxNode, ancestors: readonly SyntaxNode[]): void {
    if (isSkipped(node)) return;
    for (const { start, end, to } of changesOf(node, ancestors, text)) {
      const line = text.slice(0, start).split("\n").length;
      mutants.push({
        path,
        line,
        context: lines[line - 1]!.trim(),
        start,
        end,
        original: text.slice(start, end),
        changed: to,
      });
    }
    const names = node.computed === true ? ["source"] : ["source", "key"];
    for (const child of childrenOf(node, names)) visit(child, [...ancestors, node]);
  }
}

/** `> → >=`; a long text is cut. */
export function changeOf({ original, changed }: Mutant): string {
  return `${oneLine(original)} → ${oneLine(changed) || "nothing"}`;
}

function oneLine(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

export function applyMutant(text: string, { start, end, changed }: Mutant): string {
  return text.slice(0, start) + changed + text.slice(end);
}

/** Nodes that hold an expression inside TypeScript's own syntax. */
const WRAPPERS = new Set(["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"]);

function isSkipped(node: SyntaxNode): boolean {
  if (node.type.startsWith("TS")) return !WRAPPERS.has(node.type);
  return node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration" ||
    isLogging(node.type === "ExpressionStatement" ? node.expression! : node);
}

const LEVELS = new Set(["debug", "info", "warn", "error"]);

/** `log.warn(…)`, `this.#deps.log?.info(…)`. */
function isLogging(node: SyntaxNode): boolean {
  const { callee } = node;
  if (callee === undefined || !/^(?:Optional)?MemberExpression$/.test(callee.type)) return false;
  return LEVELS.has(nameOf(callee.property)) &&
    nameOf(callee.object?.property ?? callee.object) === "log";
}

function nameOf(node: SyntaxNode | undefined): string {
  return node?.name ?? node?.id?.name ?? "";
}
