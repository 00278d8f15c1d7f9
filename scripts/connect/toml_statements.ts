import { parse } from "smol-toml";

/** A table's heading or a pair of a TOML text, and where it stands in the text. */
export interface Statement {
  readonly kind: "table" | "pair";
  /** The path of the table, or the key of the pair inside of its table. */
  readonly path: readonly string[];
  readonly start: number;
  /** Where the value of a pair begins, and where the statement ends; a comment may follow. */
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Behind the end of the line. */
  readonly end: number;
}

/** Strings of all four kinds, signs that matter, and all other text. */
const TOKEN =
  /"""(?:[^\\]|\\[^])*?"{3,5}|'''[^]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[[\]{}=#\n]|[^"'[\]{}=#\n]+/y;

/** The statements of a valid TOML text, in order. */
export function readStatements(text: string): Statement[] {
  const statements: Statement[] = [];
  for (let start = 0; start < text.length;) {
    const { content, equals, end } = readLine(text, start);
    const written = text.slice(start, content);
    if (written.trim() !== "") {
      const isTable = equals === -1;
      statements.push({
        kind: isTable ? "table" : "pair",
        path: pathOf(parse(isTable ? written : `${text.slice(start, equals)} = 0`)),
        start,
        valueStart: isTable ? content : skipSpaces(text, equals + 1),
        valueEnd: start + written.trimEnd().length,
        end,
      });
    }
    start = end;
  }
  return statements;
}

/** A line, or more where a value goes on: where its comment begins, its first `=`, and its end. */
function readLine(text: string, start: number): { content: number; equals: number; end: number } {
  let [depth, equals, at] = [0, -1, start];
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)![0];
    if (token === "#") {
      const lineEnd = endOfLine(text, at);
      if (depth === 0) return { content: at, equals, end: lineEnd };
      at = lineEnd;
      continue;
    }
    if (token === "\n" && depth === 0) return { content: at, equals, end: at + 1 };
    if (token === "[" || token === "{") depth++;
    if (token === "]" || token === "}") depth--;
    if (token === "=" && equals === -1) equals = at;
    at += token.length;
  }
  return { content: at, equals, end: at };
}

function endOfLine(text: string, at: number): number {
  const found = text.indexOf("\n", at);
  return found === -1 ? text.length : found + 1;
}

function skipSpaces(text: string, at: number): number {
  return at + /^[ \t]*/.exec(text.slice(at))![0].length;
}

/** The only path of a nested object. */
function pathOf(value: unknown): string[] {
  const inner = Array.isArray(value) ? value[0] : value;
  if (typeof inner !== "object" || inner === null) return [];
  return Object.entries(inner).flatMap(([name, below]) => [name, ...pathOf(below)]);
}
