import { createHash } from "node:crypto";
import type { Stores } from "../../domain/files/stores.ts";
import { readCsv } from "../../lib/csv.ts";
import { decimal, formatDecimal } from "../../lib/money.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { ArchiveTableName } from "./archive_tables.ts";
import type { ArchiveManifest } from "./write_archive.ts";

export interface ArchiveFile extends ArchiveManifest {
  readonly month: string;
  readonly table_name: ArchiveTableName;
  readonly store: "local" | "s3";
  readonly key: string;
}

/** The files of archived months, or of one month, oldest first. */
export async function listArchiveFiles(sql: Queries, month?: string): Promise<ArchiveFile[]> {
  const rows = await sql<ArchiveFile[]>`
    select f.month::text as month, table_name, store, key, rows::text as rows, amount::text as amount,
           bytes::float8 as bytes, sha256
      from archive_file f join archive_month m on m.month = f.month
     where f.sha256 is not null
       ${month === undefined ? sql`and m.archived_at is not null` : sql`and f.month = ${month}`}
     order by f.month, table_name`;
  return [...rows];
}

/**
 * Reads the files of one month and compares them with what is recorded of them. Returns what is wrong, in words; an
 * empty list means that nothing is.
 */
export async function checkMonth(
  stores: Pick<Stores, "named">,
  files: readonly ArchiveFile[],
): Promise<string[]> {
  const find = (name: ArchiveTableName) => files.find(({ table_name }) => table_name === name);
  const [receipts, corrections, parts, transfers] = [
    find("receipt"),
    find("receipt_correction"),
    // Months that were archived before receipts had parts have no such file.
    find("receipt_part"),
    find("transfer"),
  ];
  if (receipts === undefined || corrections === undefined || transfers === undefined) {
    return [`${files[0]?.month ?? "a month"} lacks a file`];
  }
  // Corrections are few. What a receipt took that is corrected does not count twice.
  const correctedIds = new Set<string>();
  let replaced = 0n;
  const correctionSums = await tryReading(stores, corrections, (row) => {
    correctedIds.add(row("id"));
    return sumOf(row("taken"));
  });
  const receiptSums = await tryReading(stores, receipts, (row) => {
    const taken = sumOf(row("taken"));
    if (correctedIds.has(row("id"))) replaced += taken;
    return taken;
  });
  const ofAmounts = async (file: ArchiveFile) =>
    differences(file, await tryReading(stores, file, (row) => decimal(row("amount"))));
  return [
    ...differences(receipts, receiptSums),
    ...differences(corrections, correctionSums, replaced),
    ...(parts === undefined ? [] : await ofAmounts(parts)),
    ...await ofAmounts(transfers),
  ];
}

/** The words that say why a file cannot be read, or its sums. */
async function tryReading(...args: Parameters<typeof readArchive>): Promise<FileSums | string> {
  try {
    return await readArchive(...args);
  } catch (error) {
    const { message, cause } = error as Error;
    return `${args[1].key} cannot be read: ${cause instanceof Error ? cause.message : message}`;
  }
}

interface FileSums {
  rows: number;
  amount: bigint;
  sha256: string;
}

async function readArchive(
  stores: Pick<Stores, "named">,
  { store, key }: ArchiveFile,
  amountOf: (row: (name: string) => string) => bigint,
): Promise<FileSums> {
  const hash = createHash("sha256");
  const hashing = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      hash.update(chunk);
      controller.enqueue(chunk);
    },
  });
  const text = (await stores.named(store).get(key))
    .pipeThrough(hashing)
    .pipeThrough(new DecompressionStream("gzip"))
    .pipeThrough(new TextDecoderStream());
  let columns: Map<string | null, number> | null = null;
  const sums = { rows: 0, amount: 0n };
  for await (const fields of readCsv(text)) {
    if (columns === null) {
      columns = new Map(fields.map((name, at) => [name, at]));
      continue;
    }
    const places = columns;
    sums.rows++;
    sums.amount += amountOf((name) => fields[places.get(name)!]!);
  }
  return { ...sums, sha256: hash.digest("hex") };
}

/** `less`: what the amount of the file counts too much. */
function differences(file: ArchiveFile, found: FileSums | string, less = 0n): string[] {
  if (typeof found === "string") return [found];
  const amount = found.amount - less;
  const wrong = [];
  if (found.sha256 !== file.sha256) wrong.push(`${file.key} has another hash than recorded`);
  if (String(found.rows) !== file.rows) {
    wrong.push(`${file.key} has ${found.rows} rows, ${file.rows} are recorded`);
  }
  if (amount !== decimal(file.amount)) {
    wrong.push(`${file.key} sums to ${formatDecimal(amount)}, ${file.amount} is recorded`);
  }
  return wrong;
}

/** The sum of an array as Postgres writes it: {1.50,2}. */
function sumOf(array: string): bigint {
  const parts = array.slice(1, -1);
  return parts === "" ? 0n : parts.split(",").reduce((sum, part) => sum + decimal(part), 0n);
}
