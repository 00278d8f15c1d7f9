/**
 * Finds tests that assert nothing. A test asserts when it uses `assert`, or a function or class that does, from its
 * own file or from one it imports. What a helper returns is not followed: a test that uses such a helper passes.
 */
import { posix } from "node:path";
import { childrenOf, nodesIn, parseSource, type SyntaxNode } from "./syntax_tree.ts";

export interface EmptyTest {
  path: string;
  line: number;
  title: string;
}

interface Module {
  path: string;
  program: SyntaxNode;
  /** What a name in this file stands for: `path#name`. */
  scope: Map<string, string>;
}

/** `sources`: the test files, and the files whose functions they call. */
export function findEmptyTests(sources: ReadonlyMap<string, string>): EmptyTest[] {
  const modules = [...sources].map(([path, text]) => readModule(path, text));
  const asserting = assertingNames(modules);
  return modules.filter(({ path }) => /_test\.tsx?$/.test(path)).flatMap((module) =>
    [...nodesIn(module.program)].flatMap((node) => {
      const title = isTest(node) ? titleOf(node) : null;
      // Without a title it is a helper that makes tests.
      if (title === null || usesOf(node, module).some((name) => asserting.has(name))) return [];
      return [{ path: module.path, line: node.loc.start.line, title }];
    })
  );
}

function readModule(path: string, text: string): Module {
  const module: Module = { path, program: parseSource(path, text), scope: new Map() };
  for (const { name } of definitionsOf(module)) module.scope.set(name, `${path}#${name}`);
  for (const statement of childrenOf(module.program)) {
    if (statement.type !== "ImportDeclaration") continue;
    const from = posix.join(posix.dirname(path), String(statement.source!.value));
    for (const { local, imported } of childrenOf(statement)) {
      if (local === undefined) continue;
      const name = imported?.name ?? "default";
      module.scope.set(local.name!, local.name === "assert" ? "assert" : `${from}#${name}`);
    }
  }
  return module;
}

/** `assert`, and what uses it, and what uses that. */
function assertingNames(modules: readonly Module[]): Set<string> {
  const users = new Map<string, string[]>();
  for (const module of modules) {
    for (const { name, node } of definitionsOf(module)) {
      for (const used of usesOf(node, module)) {
        users.set(used, [...users.get(used) ?? [], `${module.path}#${name}`]);
      }
    }
  }
  const asserting = new Set(["assert"]);
  // A set shows what is added to it while it is walked through.
  for (const name of asserting) for (const user of users.get(name) ?? []) asserting.add(user);
  return asserting;
}

/** Functions, classes and constants at the top of a file. */
function* definitionsOf({ program }: Module): Generator<{ name: string; node: SyntaxNode }> {
  for (const statement of childrenOf(program)) {
    const isExported = statement.type.startsWith("Export");
    for (const defined of isExported ? childrenOf(statement) : [statement]) {
      const isConstant = defined.type === "VariableDeclaration";
      for (const node of isConstant ? childrenOf(defined) : [defined]) {
        const name = node.id?.name;
        if (name !== undefined) yield { name, node };
      }
    }
  }
}

function usesOf(node: SyntaxNode, { scope }: Module): string[] {
  const uses = new Set<string>();
  for (const { name } of nodesIn(node)) {
    const used = name === undefined ? undefined : scope.get(name);
    if (used !== undefined) uses.add(used);
  }
  return [...uses];
}

/** `Deno.test(…)` or `test(…)`. */
function isTest({ type, callee }: SyntaxNode): boolean {
  if (type !== "CallExpression") return false;
  return callee!.name === "test" ||
    (callee!.object?.name === "Deno" && callee!.property?.name === "test");
}

function titleOf({ arguments: [first] = [] }: SyntaxNode): string | null {
  const named = first?.type === "ObjectExpression"
    ? childrenOf(first).find(({ key }) => key?.name === "name")?.value
    : first;
  const title = named as SyntaxNode | undefined;
  if (title?.type === "StringLiteral") return String(title.value);
  if (title?.type !== "TemplateLiteral") return null;
  const texts = childrenOf(title).filter(({ type }) => type === "TemplateElement");
  return texts.map(({ value }) => (value as { cooked: string }).cooked).join("…");
}
