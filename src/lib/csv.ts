/** A field in quotes where it needs them (RFC 4180). */
export function quoteCsv(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/**
 * A line as Postgres' `copy … with (format csv)` writes and reads it: null is nothing, and an empty text is a pair of
 * quotes.
 */
export function csvLine(fields: readonly (string | null)[]): string {
  return fields.map((field) => field === null ? "" : field === "" ? '""' : quoteCsv(field)).join(
    ",",
  ) + "\n";
}

/** The lines of a text that comes in pieces, as `csvLine` wrote them. */
export async function* readCsv(
  pieces: AsyncIterable<string>,
): AsyncGenerator<(string | null)[]> {
  let fields: (string | null)[] = [];
  let field = "";
  let isQuoted = false; // whether the field has quotes
  let isInside = false; // whether we are between them
  let wasQuote = false; // whether the last character was a quote between quotes
  const endField = () => {
    fields.push(field === "" && !isQuoted ? null : field);
    field = "";
    isQuoted = isInside = wasQuote = false;
  };
  for await (const piece of pieces) {
    for (const character of piece) {
      if (wasQuote) {
        wasQuote = false;
        if (character === '"') {
          field += '"';
          continue;
        }
        isInside = false;
      }
      if (isInside) {
        if (character === '"') wasQuote = true;
        else field += character;
      } else if (character === '"') isInside = isQuoted = true;
      else if (character === ",") endField();
      else if (character === "\n") {
        endField();
        yield fields;
        fields = [];
      } else field += character;
    }
  }
}
