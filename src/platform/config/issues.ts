import { excerpt } from "./excerpt.ts";
import { secretKeys } from "./schema.ts";

/** An error or a warning about the configuration file: its position, and how to fix it. */
export interface ConfigIssue {
  severity: "error" | "warning";
  line: number;
  /** In UTF-16 units from 1, as editors and language servers count. */
  column: number;
  /** Characters to underline, at least 1. */
  length: number;
  /** Such as `models[3].upstreams[0].provider`; empty for the whole file. */
  path: string;
  message: string;
  suggestion?: string;
}

export type Path = readonly (string | number)[];

/** Limits the time that a file with many issues takes. */
export const ISSUES_MAX = 1000;

/** Thrown with all issues at once, not only with the first. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly file: string, readonly source: string, readonly issues: ConfigIssue[]) {
    const errors = issues.filter((issue) => issue.severity === "error").length;
    super(`${file} has ${errors} ${errors === 1 ? "error" : "errors"}`);
  }
}

export function formatPath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]{0,63}$/.test(part)) text += text === "" ? part : `.${part}`;
    // Quoted as JSON: a key may contain line breaks and control characters.
    else {text += `[${
        JSON.stringify(part.length > 60 ? `${part.slice(0, 60).toWellFormed()}…` : part)
      }]`;}
  }
  return text;
}

/** Sorts issues by position and removes duplicates, which aliases cause. */
export function sortIssues(issues: readonly ConfigIssue[]): ConfigIssue[] {
  const seen = new Set<string>();
  return issues.toSorted((a, b) => a.line - b.line || a.column - b.column).filter((issue) => {
    const key = `${issue.line}:${issue.column} ${issue.message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Formats issues as a compiler does: position, message, the line and carets below it. */
export function renderIssues(
  file: string,
  source: string,
  issues: readonly ConfigIssue[],
  options: { colors?: boolean } = {},
): string {
  const paint = (code: number, text: string) =>
    options.colors ? `\x1b[${code}m${text}\x1b[0m` : text;
  const lines = withoutSecrets(source.replace(/^\uFEFF/, "")).split(/\r?\n/);
  return issues.map((issue) => {
    const color = issue.severity === "error" ? 31 : 33;
    const position = `${file}:${issue.line}:${issue.column}`;
    const where = issue.path === "" ? "" : `${issue.path}: `;
    const hint = issue.suggestion === undefined ? "" : `. ${issue.suggestion}`;
    const head = `${paint(1, position)} ${
      paint(color, issue.severity)
    } ${where}${issue.message}${hint}`;
    const line = lines[issue.line - 1];
    if (line === undefined) return head;
    const { gutter, shown, margin, carets } = excerpt(line, issue);
    return `${head}\n${paint(2, gutter)} ${shown}\n${paint(2, "      |")} ${margin}${
      paint(color, carets)
    }`;
  }).join("\n\n");
}

const SECRET = new RegExp(
  `(\\b(?:${secretKeys().join("|")})["']?[ \\t]*:[ \\t]*["']?)([^\\s"'][^"',}#\\r\\n]*)`,
  "g",
);

/** Hides keys that are written into the file, so that they do not get into a log. */
function withoutSecrets(source: string): string {
  return source.replaceAll(SECRET, (all, before: string, key: string) => {
    return key.startsWith("${") ? all : before + key.replaceAll(/\S/g, "•");
  });
}
