/** Name and filename of a form part. */
export interface Disposition {
  name: string | undefined;
  filename: string | undefined;
}

const FIELD = "content-disposition:";
const TYPE = "form-data";

/**
 * Reads the Content-Disposition of a part (RFC 7578) from its header lines; null where there is none that
 * can be read. Reads each character a fixed number of times, whatever a client sends.
 */
export function readDisposition(head: string): Disposition | null {
  for (const line of head.split(/[\r\n]/)) {
    if (line.slice(0, FIELD.length).toLowerCase() !== FIELD) continue;
    const type = skipBlanks(line, FIELD.length);
    if (line.slice(type, type + TYPE.length).toLowerCase() !== TYPE) continue;
    const from = skipBlanks(line, type + TYPE.length);
    if (line[from] !== ";") continue;
    const parameters = readParameters(line, from);
    if (parameters === null) return null;
    return { name: parameters.get("name"), filename: parameters.get("filename") };
  }
  return null;
}

/** The parameters of a header from a semicolon on, by names in lower case; null where a quote is open. */
export function readParameters(line: string, from: number): Map<string, string> | null {
  const found = new Map<string, string>();
  for (let at = from; at !== -1; at = line.indexOf(";", at)) {
    const nameAt = skipBlanks(line, at + 1);
    const nameEnd = skipUntil(line, nameAt, '=;" \t');
    at = skipBlanks(line, nameEnd);
    if (line[at] !== "=") continue;
    const value = readValue(line, skipBlanks(line, at + 1));
    if (value === null) return null;
    found.set(line.slice(nameAt, nameEnd).toLowerCase(), value.text);
    at = value.end;
  }
  return found;
}

/** A value in quotes or without, and where it ends; null where a quote is not closed. */
function readValue(line: string, from: number): { text: string; end: number } | null {
  if (line[from] !== '"') {
    const end = skipUntil(line, from, '\t\v\f ;"');
    return { text: line.slice(from, end), end };
  }
  const close = closingQuote(line, from + 1);
  return close === -1 ? null : { text: unescaped(line.slice(from + 1, close)), end: close + 1 };
}

/**
 * The quote that ends a value. A backslash before a quote escapes it, unless no other quote follows: some
 * clients send paths such as "C:\photos\" as they are.
 */
function closingQuote(line: string, from: number): number {
  let escaped = -1;
  for (let at = from; at < line.length; at++) {
    if (line[at] === '"') return at;
    if (line[at] !== "\\") continue;
    if (line[at + 1] === '"') escaped = at + 1;
    if (line[at + 1] === '"' || line[at + 1] === "\\") at++;
  }
  return escaped;
}

/** Some clients put a backslash before a quote; browsers write %22. */
function unescaped(text: string): string {
  return text.replaceAll(/\\(["\\])/g, "$1").replaceAll("%22", '"');
}

function skipBlanks(line: string, at: number): number {
  while (line[at] === " " || line[at] === "\t") at++;
  return at;
}

function skipUntil(line: string, at: number, ends: string): number {
  while (at < line.length && !ends.includes(line[at]!)) at++;
  return at;
}
