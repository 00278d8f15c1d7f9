import type { Queries } from "../../platform/database/database.ts";

/** A node's request to the bucket that all nodes share. In milliseconds: a minute is the whole bucket. */
export interface LoanRequest {
  key: string;
  /** Used beyond the loan; negative: returned. */
  settle: number;
  /** The minimum; with less available, nothing is lent. */
  need: number;
  want: number;
}

export interface Loan {
  lent: number;
  /** Until the bucket is full again, what was lent included. */
  level: number;
}

/** One statement for any number of keys; the loans are in the order of the requests. */
export async function lend(sql: Queries, asks: readonly LoanRequest[]): Promise<Loan[]> {
  const rows = await sql<{ n: number; lent: number; level: number }[]>`
    select n, lent, level from rate_lend(
      ${asks.map(({ key }) => key)}::text[], ${asks.map(({ settle }) => settle)}::float8[],
      ${asks.map(({ need }) => need)}::float8[], ${asks.map(({ want }) => want)}::float8[])`;
  const loans: Loan[] = new Array(asks.length);
  for (const { n, lent, level } of rows) loans[n - 1] = { lent, level };
  return loans;
}

/** Full buckets need no row. */
export async function deleteFullBuckets(sql: Queries): Promise<void> {
  await sql`
    delete from rate_bucket where full_at < extract(epoch from now()) * 1000 - 60000`;
}
