import { excerpt } from "./excerpt.ts";

/** What is wrong with a declaration, where, and what would be right. */
export interface ConfigFault {
  severity: "error" | "warning";
  line: number;
  /** Counted as editors and language servers do, in UTF-16 units, from 1. */
  column: number;
  /** Characters to underline, at least 1. */
  length: number;
  /** Where in the document, such as `models[3].upstreams[0].provider`; empty for the whole of it. */
  path: string;
  message: string;
  suggestion?: string;
}

export type Path = readonly (string | number)[];

/** Nobody reads further; and a file of nothing but faults must not cost more than a good one. */
export const FAULTS_MAX = 1000;

/** Raised with every fault at once, never with the first one only. */
export class ConfigError extends Error {
  override readonly name = "BadDeclaration";
  constructor(readonly file: string, readonly source: string, readonly faults: ConfigFault[]) {
    const errors = faults.filter((fault) => fault.severity === "error").length;
    super(`${file} has ${errors} ${errors === 1 ? "fault" : "faults"}`);
  }
}

export function formatPath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]{0,63}$/.test(part)) text += text === "" ? part : `.${part}`;
    // Quoted as JSON: a key may hold line breaks and worse.
    else {text += `[${
        JSON.stringify(part.length > 60 ? `${part.slice(0, 60).toWellFormed()}…` : part)
      }]`;}
  }
  return text;
}

/** In the order of the file, and each once: what an alias repeats has its faults at one place. */
export function inOrder(faults: readonly ConfigFault[]): ConfigFault[] {
  const seen = new Set<string>();
  return faults.toSorted((a, b) => a.line - b.line || a.column - b.column).filter((fault) => {
    const key = `${fault.line}:${fault.column} ${fault.message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Prints faults as a compiler would: place, message, the line and a caret under the culprit. */
export function renderFaults(
  file: string,
  source: string,
  faults: readonly ConfigFault[],
  options: { colors?: boolean } = {},
): string {
  const paint = (code: number, text: string) =>
    options.colors ? `\x1b[${code}m${text}\x1b[0m` : text;
  const lines = withoutSecrets(source.replace(/^\uFEFF/, "")).split(/\r?\n/);
  return faults.map((fault) => {
    const tone = fault.severity === "error" ? 31 : 33;
    const place = `${file}:${fault.line}:${fault.column}`;
    const where = fault.path === "" ? "" : `${fault.path}: `;
    const hint = fault.suggestion === undefined ? "" : `. ${fault.suggestion}`;
    const head = `${paint(1, place)} ${
      paint(tone, fault.severity)
    } ${where}${fault.message}${hint}`;
    const line = lines[fault.line - 1];
    if (line === undefined) return head;
    const { gutter, shown, margin, carets } = excerpt(line, fault);
    return `${head}\n${paint(2, gutter)} ${shown}\n${paint(2, "      |")} ${margin}${
      paint(tone, carets)
    }`;
  }).join("\n\n");
}

const API_KEY =
  /(\b(?:api_key|access_key_id|secret_access_key|client_secret)["']?[ \t]*:[ \t]*["']?)([^\s"'][^"',}#\r\n]*)/g;

/** A key that stands in the file, where it must not, is not carried on into a log. */
function withoutSecrets(source: string): string {
  return source.replaceAll(API_KEY, (all, before: string, key: string) => {
    return key.startsWith("${") ? all : before + key.replaceAll(/\S/g, "•");
  });
}
