import { glob } from "node:fs/promises";
import { join } from "node:path";

/** A regular expression and where it stands. */
export interface Pattern {
  /** `file:line`. */
  where: string;
  source: string;
  flags: string;
}

/** A pattern that is put together when the code runs. */
export interface BuiltPattern {
  where: string;
  /** The expression that builds it. */
  text: string;
}

const ROOT = join(import.meta.dirname!, "../..");

export async function filesOf(patterns: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const pattern of patterns) {
    for await (const file of glob(pattern, { cwd: ROOT })) files.push(file);
  }
  return files.sort();
}

/** The regular expressions of a source file, by its syntax tree: literals, and calls of RegExp. */
export function patternsInCode(
  file: string,
  code = Deno.readTextFileSync(join(ROOT, file)),
): { literals: Pattern[]; built: BuiltPattern[] } {
  const literals: Pattern[] = [];
  const built: BuiltPattern[] = [];
  const where = ([at]: Deno.lint.Range) => `${file}:${code.slice(0, at).split("\n").length}`;
  const visitCall = (node: Deno.lint.NewExpression | Deno.lint.CallExpression) => {
    if (node.callee.type !== "Identifier" || node.callee.name !== "RegExp") return;
    const [source, flags] = node.arguments.map(textOf);
    const text = code.slice(...node.range);
    if (source === undefined || (node.arguments.length > 1 && flags === undefined)) {
      built.push({ where: where(node.range), text });
    } else literals.push({ where: where(node.range), source, flags: flags ?? "" });
  };
  Deno.lint.runPlugin(
    {
      name: "patterns",
      rules: {
        collect: {
          create: () => ({
            Literal(node) {
              if (!("regex" in node) || node.regex === undefined) return;
              const { pattern, flags } = node.regex;
              literals.push({ where: where(node.range), source: pattern, flags });
            },
            NewExpression: visitCall,
            CallExpression: visitCall,
          }),
        },
      },
    },
    file,
    code,
  );
  return { literals, built };
}

/** A text that stands in the code, also in pieces; undefined where it is known only when the code runs. */
function textOf(node: Deno.lint.Node): string | undefined {
  if (node.type === "BinaryExpression" && node.operator === "+") {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  return node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}
