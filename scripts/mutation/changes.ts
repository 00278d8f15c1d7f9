/** The mistakes that a mutant can make at one node of the syntax tree. */

import type { SyntaxNode } from "../syntax_tree.ts";

export interface Change {
  start: number;
  end: number;
  to: string;
}

type Rule = (node: SyntaxNode, ancestors: readonly SyntaxNode[], text: string) => Change[];

export function changesOf(
  node: SyntaxNode,
  ancestors: readonly SyntaxNode[],
  text: string,
): Change[] {
  return RULES[node.type]?.(node, ancestors, text) ?? [];
}

/** Boundaries are moved by one, equality is turned round, arithmetic does the opposite. */
const OPERATORS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "**": "*",
  "&&": "||",
  "||": "&&",
  "+=": "-=",
  "-=": "+=",
  "*=": "/=",
  "/=": "*=",
  "??=": "=",
  "||=": "=",
  "&&=": "=",
};

const OTHER_METHOD: Readonly<Record<string, string>> = {
  min: "max",
  max: "min",
  some: "every",
  every: "some",
};

const RULES: Readonly<Record<string, Rule>> = {
  BinaryExpression(node, ancestors, text) {
    const isEquality = /^[!=]==?$/.test(node.operator!);
    // A whole condition is set to true and to false, which is more.
    if (isEquality && ancestors.at(-1)?.test === node) return [];
    if (node.operator === "+" && (isText(node.left) || isText(node.right))) return [];
    return swapOperator(node, text);
  },
  LogicalExpression(node, _, text) {
    if (node.operator !== "??") return swapOperator(node, text);
    const { start } = operatorOf(node, text);
    return [{ start, end: node.end, to: "" }];
  },
  AssignmentExpression: (node, _, text) => swapOperator(node, text),
  UpdateExpression(node) {
    const start = node.prefix ? node.start : node.end - 2;
    return [{ start, end: start + 2, to: node.operator === "++" ? "--" : "++" }];
  },
  UnaryExpression(node, ancestors) {
    if (!"!-".includes(node.operator!) || ancestors.at(-1)?.test === node) return [];
    return [{ start: node.start, end: node.start + 1, to: "" }];
  },
  IfStatement: setCondition("true", "false"),
  ConditionalExpression: setCondition("true", "false"),
  // Not true: a loop without an end says nothing about the tests.
  WhileStatement: setCondition("false"),
  DoWhileStatement: setCondition("false"),
  ForStatement: setCondition("false"),
  NumericLiteral: (node) => [replace(node, String(Number(node.value) + 1))],
  BigIntLiteral: (node, _, text) => [
    replace(node, `${BigInt(textOf(node, text).replaceAll("_", "").slice(0, -1)) + 1n}n`),
  ],
  BooleanLiteral: (node) => [replace(node, String(node.value !== true))],
  StringLiteral(node, ancestors) {
    if (isWording(String(node.value), ancestors)) return [];
    return [replace(node, node.value === "" ? '"mutated"' : '""')];
  },
  TemplateLiteral(node, ancestors, text) {
    const isTagged = ancestors.at(-1)?.type === "TaggedTemplateExpression";
    return isTagged || isWording(textOf(node, text), ancestors) ? [] : [replace(node, '""')];
  },
  AwaitExpression(node, ancestors) {
    if (isReturnedAtOnce(node, ancestors)) return [];
    return [{ start: node.start, end: node.argument!.start, to: "" }];
  },
  CallExpression(node) {
    const { property } = node.callee!;
    const other = OTHER_METHOD[property?.name ?? ""];
    return other === undefined ? [] : [replace(property!, other)];
  },
  ExpressionStatement: removeStatement,
  ThrowStatement: removeStatement,
  BreakStatement: removeStatement,
  ContinueStatement: removeStatement,
};

function swapOperator(node: SyntaxNode, text: string): Change[] {
  const to = OPERATORS[node.operator!];
  return to === undefined ? [] : [{ ...operatorOf(node, text), to }];
}

/** Between the operands there may be parentheses and spaces too. */
function operatorOf({ left, operator }: SyntaxNode, text: string): { start: number; end: number } {
  const start = text.indexOf(operator!, left!.end);
  return { start, end: start + operator!.length };
}

function setCondition(...values: string[]): Rule {
  return ({ test }) => {
    if (test === null || test === undefined || test.type === "BooleanLiteral") return [];
    return values.map((to) => replace(test, to));
  };
}

function removeStatement(node: SyntaxNode, ancestors: readonly SyntaxNode[]): Change[] {
  if (node.expression?.callee?.type === "Super" || isAllOfAnIf(node, ancestors)) return [];
  return [replace(node, ";")];
}

/** `if (c) x();`: without the statement it does what `if (false)` does. */
function isAllOfAnIf(node: SyntaxNode, ancestors: readonly SyntaxNode[]): boolean {
  const parent = ancestors.at(-1)!;
  if (parent.type === "BlockStatement") {
    return (parent.body as SyntaxNode[]).length === 1 &&
      isAllOfAnIf(parent, ancestors.slice(0, -1));
  }
  return parent.type === "IfStatement" && parent.consequent === node && !parent.alternate;
}

/** `return await x` differs from `return x` only where something is caught or closed afterwards. */
function isReturnedAtOnce(node: SyntaxNode, ancestors: readonly SyntaxNode[]): boolean {
  const at = ancestors.findLastIndex(({ type }) => type !== "ConditionalExpression");
  const parent = ancestors[at]!;
  if (parent.type === "ArrowFunctionExpression") return parent.body === (ancestors[at + 1] ?? node);
  if (parent.type !== "ReturnStatement") return false;
  const start = ancestors.findLastIndex(({ type }) => /Function|Method/.test(type));
  const within = ancestors.slice(start + 1);
  return within.every(({ type, body, block, finalizer }) =>
    !(type === "TryStatement" && (within.includes(block!) || finalizer)) &&
    !(type === "BlockStatement" && (body as SyntaxNode[]).some(closesAtTheEnd))
  );
}

function closesAtTheEnd({ type, kind }: SyntaxNode): boolean {
  return type === "VariableDeclaration" && /using/.test(kind!);
}

/** A sentence for people inside `new ApiError(…)` or another error. */
function isWording(value: string, ancestors: readonly SyntaxNode[]): boolean {
  return value.includes(" ") && ancestors.some(({ type }) => type === "NewExpression");
}

function isText(node: SyntaxNode | undefined): boolean {
  return node?.type === "StringLiteral" || node?.type === "TemplateLiteral";
}

function replace({ start, end }: SyntaxNode, to: string): Change {
  return { start, end, to };
}

function textOf({ start, end }: SyntaxNode, text: string): string {
  return text.slice(start, end);
}
