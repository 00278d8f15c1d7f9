/** An error or a warning about a file: its position, and how to fix it. */
export interface SourceIssue {
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

export interface IssueText {
  message: string;
  suggestion?: string;
  severity?: SourceIssue["severity"];
}

export type Path = readonly (string | number)[];

/** Limits the time that a file with many issues takes. */
export const ISSUES_MAX = 1000;

export function formatPath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[A-Za-z_$][\w-]{0,63}$/.test(part)) text += text === "" ? part : `.${part}`;
    // Quoted as JSON: a key may contain line breaks and control characters.
    else {text += `[${
        JSON.stringify(part.length > 60 ? `${part.slice(0, 60).toWellFormed()}…` : part)
      }]`;}
  }
  return text;
}

/** Sorts issues by position and removes duplicates, which aliases cause. */
export function sortIssues<Issue extends SourceIssue>(issues: readonly Issue[]): Issue[] {
  const seen = new Set<string>();
  return issues.toSorted((a, b) => a.line - b.line || a.column - b.column).filter((issue) => {
    const key = `${issue.line}:${issue.column} ${issue.message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** One line: the path, what is wrong and how to fix it. */
export function issueText({ path, message, suggestion }: Omit<SourceIssue, "severity">): string {
  const where = path === "" ? "" : `${path}: `;
  return `${where}${message}${suggestion === undefined ? "" : `. ${suggestion}`}`;
}
