import { type Document, LineCounter, parseDocument } from "yaml";
import { FAULTS_MAX, type Path } from "./faults.ts";
import { readValues, type Values } from "./read_values.ts";
import type { Environment } from "./references.ts";
import { SourceMap } from "./source_map.ts";
import { type Finding, findSyntaxFaults } from "./syntax.ts";

export type { Environment };

/** A declaration as written: values with environment references filled in, and where each stands. */
export interface LoadedYaml extends Values {
  file: string;
  places: SourceMap;
}

/** Reading happens on the thread that serves requests, at a second or two per MiB. */
const CHARACTERS_MAX = 2 * 1024 * 1024;
/** Far above what a declaration may have, far below what ends the parser's stack. */
const OPEN_BRACKETS_MAX = 500;
const NESTED_TOO_DEEPLY = "the file is nested too deeply";
const BYTE_ORDER_MARK = "\uFEFF";

/** Reads YAML and fills in `${NAME}` and `${NAME:-default}`. Never throws for what the file holds. */
export function loadYaml(file: string, source: string, environment: Environment): LoadedYaml {
  const text = source.startsWith(BYTE_ORDER_MARK) ? source.slice(1) : source;
  const tooMuch = whyNotParsed(text);
  if (tooMuch !== null) return refused(file, tooMuch);
  try {
    return read(file, text, environment);
  } catch (error) {
    // Blocks nest without brackets too, and the parser calls itself for each: its stack ended.
    if (error instanceof RangeError) return refused(file, NESTED_TOO_DEEPLY);
    throw error;
  }
}

function read(file: string, text: string, environment: Environment): LoadedYaml {
  const { document, places } = parse(text);
  const findings = findSyntaxFaults(document, text);
  if (findings.length > 0) return unread(file, places, findings);
  return { file, places, ...readValues(document, places, environment) };
}

function refused(file: string, message: string): LoadedYaml {
  return unread(file, parse("").places, [{ offset: 0, message }]);
}

function whyNotParsed(text: string): string | null {
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

function parse(text: string): { document: Document.Parsed; places: SourceMap } {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // The parser compares every key with every other; reading the values finds them in one pass.
    uniqueKeys: false,
    stringKeys: true,
    // Not "silent": that would also silence a second document.
    logLevel: "error",
  });
  return { document, places: new SourceMap(document, lines) };
}

function unread(file: string, places: SourceMap, findings: readonly Finding[]): LoadedYaml {
  const faults = findings.slice(0, FAULTS_MAX).map(({ offset, ...text }) =>
    places.faultAtOffset(offset, text)
  );
  const none = new Set<string>();
  return {
    file,
    places,
    value: undefined,
    written: undefined,
    references: none,
    incomplete: none,
    faults,
  };
}

export function fromPointer(text: string, root: unknown): Path {
  const path: (string | number)[] = [];
  let here = root;
  for (const raw of text.split("/").slice(1)) {
    const part = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    const step = Array.isArray(here) ? Number(part) : part;
    path.push(step);
    here = (here as Record<string | number, unknown> | null | undefined)?.[step];
  }
  return path;
}
