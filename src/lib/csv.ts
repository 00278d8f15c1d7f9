/** A field in quotes where it needs them (RFC 4180). */
export function quoteCsv(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/** Text that people chose must not become a formula in a spreadsheet. */
export function plainCsvText(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/**
 * The lines of a text that comes in pieces, as Postgres' `copy … with (format csv)` writes them: null is nothing, and an
 * empty text is a pair of quotes.
 */
export async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<(string | null)[]> {
  let rest = "";
  for await (const piece of pieces) {
    rest += piece;
    let from = 0;
    for (let line = readLine(rest, from); line !== null; line = readLine(rest, from)) {
      yield line.fields;
      from = line.end;
    }
    rest = rest.slice(from);
  }
}

/** The line that begins there, and where it ends; null if not all of it is there. */
function readLine(text: string, start: number): { fields: (string | null)[]; end: number } | null {
  const fields: (string | null)[] = [];
  for (let at = start;;) {
    const end = text[at] === '"' ? endOfQuoted(text, at) : endOfPlain(text, at);
    // What follows a field decides whether a quote was its last.
    if (end === -1 || end >= text.length) return null;
    fields.push(fieldOf(text.slice(at, end)));
    if (text[end] === "\n") return { fields, end: end + 1 };
    at = end + 1;
  }
}

function endOfQuoted(text: string, start: number): number {
  for (let at = start + 1;; at += 2) {
    at = text.indexOf('"', at);
    if (at === -1 || at + 1 >= text.length) return -1;
    if (text[at + 1] !== '"') return at + 1;
  }
}

function endOfPlain(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === "," || character === "\n") return at;
  }
  return -1;
}

function fieldOf(text: string): string | null {
  if (text === "") return null;
  return text[0] === '"' ? text.slice(1, -1).replaceAll('""', '"') : text;
}
