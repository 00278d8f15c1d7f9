import { type Document, type ErrorCode, visit } from "yaml";
import type { IssueText } from "./issue.ts";

export type SyntaxIssue = IssueText & { offset: number };

/** Errors that do not affect the parsing of the rest. After any other error, further errors are unreliable. */
const INDEPENDENT_ERRORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "TAB_AS_INDENT",
  "MULTIPLE_DOCS",
  "TAG_RESOLVE_FAILED",
  "BAD_COLLECTION_TYPE",
  "BAD_DIRECTIVE",
  "BAD_DQ_ESCAPE",
]);

/** Syntax errors with messages for operators; one per mistake. */
export function findSyntaxIssues(document: Document.Parsed, text: string): SyntaxIssue[] {
  const issues: SyntaxIssue[] = [];
  let isUnreliable = false;
  // The parser only warns about tags and directives; here they are errors.
  const warnings = document.warnings.filter((warning) => INDEPENDENT_ERRORS.has(warning.code));
  for (const { code, message, pos } of [...document.errors, ...warnings]) {
    if (!INDEPENDENT_ERRORS.has(code) && isUnreliable) continue;
    isUnreliable ||= !INDEPENDENT_ERRORS.has(code);
    const isOpenQuote = code === "MISSING_CHAR" && /closing ["']/.test(message);
    const offset = isOpenQuote ? quoteBefore(document, pos[0]) : afterSpaces(text, pos[0]);
    issues.push({ offset, ...messageForCode(code, message) });
  }
  const { yaml } = document.directives;
  if (yaml.explicit && yaml.version !== "1.2") {
    const message = `the file must be YAML 1.2, not ${yaml.version}`;
    issues.push({ offset: 0, message, suggestion: "Remove the %YAML line." });
  }
  return issues;
}

/** The parser reports an open quote where its block ends; the start of the quote is more helpful. */
function quoteBefore(document: Document.Parsed, offset: number): number {
  let last = offset;
  visit(document, {
    Scalar(_key, { type, range }) {
      if (type?.startsWith("QUOTE") && range && range[0] < offset) last = range[0];
    },
  });
  return last;
}

function afterSpaces(text: string, offset: number): number {
  let at = offset;
  while (text[at] === " ") at++;
  return at;
}

function messageForCode(code: ErrorCode, message: string): IssueText {
  switch (code) {
    case "TAB_AS_INDENT":
      return { message: "a tab is used to indent", suggestion: "Use spaces." };
    case "MULTIPLE_DOCS":
      return {
        message: "the file holds more than one document",
        suggestion: "Remove the --- line.",
      };
    case "TAG_RESOLVE_FAILED":
    case "BAD_COLLECTION_TYPE":
      return {
        message: "tags (!) are not supported",
        suggestion: "Remove it, or put the text in quotes.",
      };
    case "NON_STRING_KEY":
      return { message: "a key must be a string" };
    case "BLOCK_AS_IMPLICIT_KEY":
      if (message.startsWith("A block sequence")) return messageForIndent(message);
      return {
        message: 'a second ": " on the line',
        suggestion: "Put the value in quotes, or start a new line.",
      };
    case "BAD_INDENT":
      return messageForIndent(message);
    case "MISSING_CHAR":
    case "MULTILINE_IMPLICIT_KEY":
      return messageForMissing(message);
    case "UNEXPECTED_TOKEN":
      return messageForUnexpected(message);
    case "BAD_ALIAS":
    case "BAD_SCALAR_START":
      return { message: plain(message), suggestion: "Put it in quotes." };
    case "BAD_DQ_ESCAPE":
      return {
        message: plain(message),
        suggestion: "Write \\\\ for a backslash, or use single quotes.",
      };
    case "RESOURCE_EXHAUSTION":
      return { message: "the file is nested too deeply" };
    default:
      return { message: plain(message) };
  }
}

function messageForIndent(message: string): IssueText {
  const bracket = /end with a ([\]}])/.exec(message)?.[1];
  if (bracket !== undefined) return messageForOpenBracket(bracket);
  return { message: "the line is not indented like its neighbours" };
}

function messageForMissing(message: string): IssueText {
  const bracket = /end with a ([\]}])/.exec(message)?.[1];
  if (bracket !== undefined) return messageForOpenBracket(bracket);
  const quote = /closing (["'])/.exec(message)?.[1];
  if (quote !== undefined) return { message: `this ${quote} is not closed` };
  if (message.startsWith("Implicit")) return { message: "expected a key, a colon and a value" };
  if (message.startsWith("Sequence item without")) return messageForIndent(message);
  return { message: plain(message) };
}

function messageForUnexpected(message: string): IssueText {
  if (message.startsWith("Block scalar")) return { message: plain(message) };
  const token = /token in YAML stream: (.{1,40})/.exec(message)?.[1];
  return {
    message: token === undefined ? plain(message) : `unexpected ${token}`,
    suggestion: "Look for a missing quote, comma or bracket before it.",
  };
}

function messageForOpenBracket(bracket: string): IssueText {
  const opening = bracket === "}" ? "{" : "[";
  return { message: `a ${opening} before this is not closed with ${bracket}` };
}

function plain(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.charAt(0).toLowerCase() + line.slice(1);
}
