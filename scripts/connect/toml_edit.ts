import { isDeepStrictEqual } from "node:util";
import { readStatements, type Statement } from "./toml_statements.ts";

/**
 * Changes of a TOML text that leave everything else as it is written, comments too. They know the usual layouts;
 * the caller reads the result back, so that an unusual one is an error and not a broken file.
 */

/** A key in a table; the table above all others has an empty path. */
export interface TomlPlace {
  readonly table: readonly string[];
  readonly key: string;
}

/** The value at a place, as it is written; null where there is none. */
export function writtenValue(text: string, place: TomlPlace): string | null {
  const { pair } = findPlace(text, place);
  return pair === undefined ? null : text.slice(pair.valueStart, pair.valueEnd);
}

/** Writes a value at a place; null removes it. */
export function writeValue(text: string, place: TomlPlace, value: string | null): string {
  const { pair, last, isMissing } = findPlace(text, place);
  if (pair !== undefined) {
    return value === null
      ? text.slice(0, pair.start) + text.slice(pair.end)
      : text.slice(0, pair.valueStart) + value + text.slice(pair.valueEnd);
  }
  if (value === null) return text;
  const line = `${place.key} = ${value}\n`;
  if (isMissing) {
    return `${endLine(text)}${text === "" ? "" : "\n"}[${place.table.join(".")}]\n${line}`;
  }
  const at = last?.end ?? 0;
  return endLine(text.slice(0, at)) + line + text.slice(at);
}

/** The text without a table and the tables in it. */
export function removeTable(text: string, path: readonly string[]): string {
  const statements = readStatements(text);
  const isInside = (table: Statement) => isDeepStrictEqual(table.path.slice(0, path.length), path);
  const start = statements.findIndex((each) => each.kind === "table" && isInside(each));
  if (start === -1) return text;
  const after = statements.findIndex((each, index) =>
    index > start && each.kind === "table" && !isInside(each)
  );
  const { end } = statements.at(after === -1 ? -1 : after - 1)!;
  // The blank line above a table goes with it.
  const above = text.slice(0, statements[start]!.start).replace(/(^|\n)\n$/, "$1");
  const rest = above + text.slice(end);
  return after === -1 ? rest : removeTable(rest, path);
}

/** The pair at a place, and the last statement of its table, behind which another pair can stand. */
function findPlace(
  text: string,
  { table, key }: TomlPlace,
): { pair?: Statement; last?: Statement; isMissing: boolean } {
  const statements = readStatements(text);
  const heading = table.length === 0
    ? -1
    : statements.findIndex(({ kind, path }) => kind === "table" && isDeepStrictEqual(path, table));
  if (table.length > 0 && heading === -1) return { isMissing: true };
  const next = statements.findIndex(({ kind }, index) => index > heading && kind === "table");
  const pairs = statements.slice(heading + 1, next === -1 ? undefined : next);
  return {
    pair: pairs.find(({ path }) => isDeepStrictEqual(path, [key])),
    last: pairs.at(-1) ?? statements[heading],
    isMissing: false,
  };
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
