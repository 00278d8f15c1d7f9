/** The values of an array of rows in the form that Postgres reads, for tests without a database. */
export function readRows(literal: string): (string | null)[][] {
  return [...literal.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, row]) => readRow(unescape(row!)));
}

function readRow(row: string): (string | null)[] {
  return [...`${row.slice(1, -1)},`.matchAll(/(?:"((?:[^"\\]|\\.)*)"|([^,"]*)),/gs)]
    .map(([, quoted, plain]) => quoted === undefined ? plain || null : unescape(quoted));
}

const unescape = (text: string) => text.replace(/\\(.)/gs, "$1");
