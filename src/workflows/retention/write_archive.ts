import { createHash } from "node:crypto";
import type { ByteStore } from "../../domain/files/byte_store.ts";
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
  async function* text(): AsyncGenerator<string> {
    const columns = await columnsOf(sql, table.relation);
    yield `${columns.join(",")}\n`;
    for await (const page of readPages(sql, table, columns)) {
      seen.rows += BigInt(page.rows);
      seen.amount += decimal(page.amount);
      yield page.text;
      await onPage();
    }
  }
  const bytes = ReadableStream.from(text())
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

interface Page {
  /** Lines of CSV. The database makes them: reading each field here would cost several times as much. */
  text: string;
  rows: number;
  amount: string;
  /** The key of the last row. */
  last: string[];
}

/** A field as `copy … with (format csv)` writes it. */
function csvField(column: string): string {
  const text = `"${column}"::text`;
  return `case when "${column}" is null then '' when ${text} = '' or ${text} ~ '[",\r\n]'
               then '"' || replace(${text}, '"', '""') || '"' else ${text} end`;
}

/** A page at a time, in the order of the key, so that an export of any size holds no transaction open. */
async function* readPages(
  sql: Queries,
  { relation, where, key, amount }: ArchiveTable,
  columns: readonly string[],
): AsyncGenerator<Page> {
  const line = columns.map(csvField).join(" || ',' || ");
  const names = key.map(({ column }) => column).join(", ");
  const places = key.map(({ type }, at) => `$${at + 1}::text::${type}`).join(", ");
  const texts = key.map(({ column }) => `${column}::text`).join(", ");
  let last: string[] = [];
  while (true) {
    const after = last.length === 0 ? "true" : `(${names}) > (${places})`;
    const [page]: [Page] = await sql.unsafe<[Page]>(
      `select string_agg(line || E'\\n', '' order by n) as text, count(*)::int as rows, sum(amount)::text as amount,
              (array_agg(place order by n desc))[1] as last
         from (select row_number() over (order by ${names}) as n, ${line} as line, ${amount} as amount,
                      to_json(array[${texts}]) as place
                 from ${relation} where ${where} and ${after} order by ${names} limit ${PAGE}) page`,
      last,
    );
    if (page.rows > 0) yield page;
    if (page.rows < PAGE) return;
    last = page.last;
  }
}
