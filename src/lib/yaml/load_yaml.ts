import { type Document, LineCounter, parseDocument } from "yaml";
import { ISSUES_MAX } from "./issue.ts";
import { readValues, type Values } from "./read_values.ts";
import type { Environment } from "./references.ts";
import { SourceMap } from "./source_map.ts";
import { findSyntaxIssues, type SyntaxIssue } from "./syntax.ts";

export type { Environment };

/** A parsed file: values with environment references filled in, and their positions. */
export interface LoadedYaml extends Values {
  file: string;
  sourceMap: SourceMap;
}

/** Parsing blocks the thread that serves requests for a second or two per MiB. */
const CHARACTERS_MAX = 2 * 1024 * 1024;
/** Far above what a configuration needs, far below what overflows the parser's stack. */
const OPEN_BRACKETS_MAX = 500;
const NESTED_TOO_DEEPLY = "the file is nested too deeply";
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Parses YAML or JSON, and fills in `${NAME}`, `${file:/path}` and their defaults unless `environment` is null. Bad content
 * gives issues, not exceptions.
 */
export function loadYaml(
  file: string,
  source: string,
  environment: Environment | null,
): LoadedYaml {
  const text = source.startsWith(BYTE_ORDER_MARK) ? source.slice(1) : source;
  const reason = reasonNotToParse(text);
  if (reason !== null) return rejected(file, reason);
  try {
    return read(file, text, environment);
  } catch (error) {
    // Blocks can also nest without brackets, and the recursive parser ran out of stack.
    if (error instanceof RangeError) return rejected(file, NESTED_TOO_DEEPLY);
    throw error;
  }
}

function read(file: string, text: string, environment: Environment | null): LoadedYaml {
  const { document, sourceMap } = parse(text);
  const findings = findSyntaxIssues(document, text);
  if (findings.length > 0) return withoutValue(file, sourceMap, findings);
  return { file, sourceMap, ...readValues(document, sourceMap, environment) };
}

function rejected(file: string, message: string): LoadedYaml {
  return withoutValue(file, parse("").sourceMap, [{ offset: 0, message }]);
}

function reasonNotToParse(text: string): string | null {
  if (text.length > CHARACTERS_MAX) {
    return `the file is larger than ${CHARACTERS_MAX / 1024 / 1024} MiB`;
  }
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x5b || char === 0x7b) open++;
    else if ((char === 0x5d || char === 0x7d) && open > 0) open--;
    if (open > OPEN_BRACKETS_MAX) return NESTED_TOO_DEEPLY;
  }
  return null;
}

function parse(text: string): { document: Document.Parsed; sourceMap: SourceMap } {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // The parser would compare every pair of keys; `readValues` finds duplicates in one pass.
    uniqueKeys: false,
    stringKeys: true,
    // Not "silent": that would also hide the error about a second document.
    logLevel: "error",
  });
  return { document, sourceMap: new SourceMap(document, lines) };
}

function withoutValue(
  file: string,
  sourceMap: SourceMap,
  findings: readonly SyntaxIssue[],
): LoadedYaml {
  const issues = findings.slice(0, ISSUES_MAX).map(({ offset, ...text }) =>
    sourceMap.issueAtOffset(offset, text)
  );
  const none = new Set<string>();
  return {
    file,
    sourceMap,
    value: undefined,
    written: undefined,
    references: none,
    secretFiles: none,
    incomplete: none,
    issues,
  };
}
