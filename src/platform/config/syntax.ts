import { type Document, type ErrorCode, visit } from "yaml";
import type { FaultText } from "./source_map.ts";

export type Finding = FaultText & { offset: number };

/** Each of these stands for itself; any other mistake makes the parser guess at all that follows. */
const APART: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "TAB_AS_INDENT",
  "MULTIPLE_DOCS",
  "TAG_RESOLVE_FAILED",
  "BAD_COLLECTION_TYPE",
  "BAD_DIRECTIVE",
  "BAD_DQ_ESCAPE",
]);

/** What keeps the text from being read at all, in an operator's words; one finding per mistake. */
export function findSyntaxFaults(document: Document.Parsed, text: string): Finding[] {
  const findings: Finding[] = [];
  let hasLostTrack = false;
  // Warnings of the parser about tags and directives are mistakes here; those about layout are not.
  const warnings = document.warnings.filter((warning) => APART.has(warning.code));
  for (const { code, message, pos } of [...document.errors, ...warnings]) {
    if (!APART.has(code) && hasLostTrack) continue;
    hasLostTrack ||= !APART.has(code);
    const isOpenQuote = code === "MISSING_CHAR" && /closing ["']/.test(message);
    const offset = isOpenQuote ? quoteBefore(document, pos[0]) : afterSpaces(text, pos[0]);
    findings.push({ offset, ...explain(code, message) });
  }
  const { yaml } = document.directives;
  if (yaml.explicit && yaml.version !== "1.2") {
    const message = `a declaration is YAML 1.2, not ${yaml.version}`;
    findings.push({ offset: 0, message, suggestion: "Remove the %YAML line." });
  }
  return findings;
}

/** The parser notices an open quote where its block ends; what helps is where it starts. */
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

function explain(code: ErrorCode, message: string): FaultText {
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
        message: "tags (!) are not used in a declaration",
        suggestion: "Remove it, or put the text in quotes.",
      };
    case "NON_STRING_KEY":
      return { message: "a key must be a plain text" };
    case "BLOCK_AS_IMPLICIT_KEY":
      if (message.startsWith("A block sequence")) return explainIndent(message);
      return {
        message: 'a second ": " on the line',
        suggestion: "Put the value in quotes, or start a new line.",
      };
    case "BAD_INDENT":
      return explainIndent(message);
    case "MISSING_CHAR":
    case "MULTILINE_IMPLICIT_KEY":
      return explainMissing(message);
    case "UNEXPECTED_TOKEN":
      return explainUnexpected(message);
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

function explainIndent(message: string): FaultText {
  const bracket = /end with a ([\]}])/.exec(message)?.[1];
  if (bracket !== undefined) return notClosed(bracket);
  return { message: "the line is not indented like its neighbours" };
}

function explainMissing(message: string): FaultText {
  const bracket = /end with a ([\]}])/.exec(message)?.[1];
  if (bracket !== undefined) return notClosed(bracket);
  const quote = /closing (["'])/.exec(message)?.[1];
  if (quote !== undefined) return { message: `this ${quote} is not closed` };
  if (message.startsWith("Implicit")) return { message: "expected a key, a colon and a value" };
  if (message.startsWith("Sequence item without")) return explainIndent(message);
  return { message: plain(message) };
}

function explainUnexpected(message: string): FaultText {
  if (message.startsWith("Block scalar")) return { message: plain(message) };
  const token = /token in YAML stream: (.{1,40})/.exec(message)?.[1];
  return {
    message: token === undefined ? plain(message) : `unexpected ${token}`,
    suggestion: "Look for a missing quote, comma or bracket before it.",
  };
}

function notClosed(bracket: string): FaultText {
  const opening = bracket === "}" ? "{" : "[";
  return { message: `a ${opening} before this is not closed with ${bracket}` };
}

function plain(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.charAt(0).toLowerCase() + line.slice(1);
}
