import { createHash } from "node:crypto";
import type { ByteStore } from "../../domain/files/byte_store.ts";
import { csvLine } from "../../lib/csv.ts";
import { decimal, formatDecimal } from "../../lib/money.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { ArchiveTable } from "./archive_tables.ts";

/** What is recorded of a file, so that it can be checked for ever. */
export interface ArchiveManifest {
  readonly rows: string;
  readonly amount: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Per query: few enough that neither side keeps much in memory. */
const PAGE = 2_000;

/** Writes the rows of a table as compressed CSV into a store. `onPage` is called now and then. */
export async function writeArchive(
  sql: Queries,
  store: ByteStore,
  { key, table, onPage }: { key: string; table: ArchiveTable; onPage: () => Promise<void> },
): Promise<ArchiveManifest> {
  const hash = createHash("sha256");
  const seen = { rows: 0n, amount: 0n, bytes: 0 };
  async function* hashed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      seen.bytes += chunk.length;
      yield chunk;
    }
  }
  async function* lines(): AsyncGenerator<string> {
    const columns = await columnsOf(sql, table.relation);
    yield csvLine(columns);
    for await (const page of readPages(sql, table, columns)) {
      seen.rows += BigInt(page.length);
      for (const { amount } of page) seen.amount += decimal(amount);
      yield page.map(({ fields }) => csvLine(fields)).join("");
      await onPage();
    }
  }
  const bytes = ReadableStream.from(lines())
    .pipeThrough(new TextEncoderStream())
    .pipeThrough(new CompressionStream("gzip"));
  await store.put(key, hashed(bytes));
  return {
    rows: String(seen.rows),
    amount: formatDecimal(seen.amount),
    bytes: seen.bytes,
    sha256: hash.digest("hex"),
  };
}

async function columnsOf(sql: Queries, relation: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
     where attrelid = to_regclass(${relation}) and attnum > 0 and not attisdropped order by attnum`;
  return rows.map(({ name }) => name);
}

interface Row {
  fields: (string | null)[];
  amount: string;
}

/** A page at a time, in the order of the key, so that an export of any size holds no transaction open. */
async function* readPages(
  sql: Queries,
  { relation, where, key, amount }: ArchiveTable,
  columns: readonly string[],
): AsyncGenerator<Row[]> {
  const fields = columns.map((name) => `"${name}"::text`).join(", ");
  const names = key.map(({ column }) => column).join(", ");
  const places = key.map(({ type }, at) => `$${at + 1}::text::${type}`).join(", ");
  let last: string[] | null = null;
  while (true) {
    const after = last === null ? "true" : `(${names}) > (${places})`;
    const page: Row[] = await sql.unsafe<Row[]>(
      `select to_json(array[${fields}]) as fields, (${amount})::text as amount
         from ${relation} where ${where} and ${after} order by ${names} limit ${PAGE}`,
      last ?? [],
    );
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    const { fields: lastFields } = page.at(-1)!;
    last = key.map(({ column }) => lastFields[columns.indexOf(column)]!);
  }
}
