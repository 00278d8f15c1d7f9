import { issueText, type SourceIssue } from "../../lib/yaml/issue.ts";
import { excerpt } from "./excerpt.ts";
import { secretKeys } from "./schema.ts";

export { formatPath, ISSUES_MAX, type Path, sortIssues } from "../../lib/yaml/issue.ts";

/** An error or a warning about the configuration file. */
export type ConfigIssue = SourceIssue;

/** Thrown with all issues at once, not only with the first. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly file: string, readonly source: string, readonly issues: ConfigIssue[]) {
    const errors = issues.filter((issue) => issue.severity === "error").length;
    super(`${file} has ${errors} ${errors === 1 ? "error" : "errors"}`);
  }
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
    const head = `${paint(1, position)} ${paint(color, issue.severity)} ${issueText(issue)}`;
    const line = lines[issue.line - 1];
    if (line === undefined) return head;
    const { gutter, shown, margin, carets } = excerpt(line, issue);
    return `${head}\n${paint(2, gutter)} ${shown}\n${paint(2, "      |")} ${margin}${
      paint(color, carets)
    }`;
  }).join("\n\n");
}

const KEY = `\\b(?:${secretKeys().join("|")})`;
const COLON = `["']?[ \\t]*:[ \\t]*["']?`;
const VALUE = `[^\\s"'][^"',}#\\r\\n]*`;
const SECRET = new RegExp(`(${KEY}${COLON})(${VALUE})`, "g");

/** Hides keys that are written into the file, so that they do not get into a log. */
function withoutSecrets(source: string): string {
  return source.replaceAll(SECRET, (all, before: string, key: string) => {
    return key.startsWith("${") ? all : before + key.replaceAll(/\S/g, "•");
  });
}
