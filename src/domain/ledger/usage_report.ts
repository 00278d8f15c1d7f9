import { ApiError } from "../../lib/api_error.ts";
import type { Database, Queries } from "../../platform/database/database.ts";
import { archivedBefore } from "./archived.ts";
import {
  type GroupRow,
  type Place,
  selectPage,
  type UsageFilter,
  type UsageGroup,
} from "./usage_page.ts";
import { addTo, noUsage, type Sums, toSums, toUsageSums, type UsageSums } from "./usage_sums.ts";

export interface UsageReportQuery {
  /** At least one. */
  readonly groupBy: readonly UsageGroup[];
  readonly filters: ReadonlyMap<UsageFilter, string>;
  /** By the time of the charge. Left out: from the beginning of this month on. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Ends the report, as when the client has disconnected. */
  readonly signal?: AbortSignal | undefined;
}

/** The values of the groups, by their names; null: requests without such a value. Ids come with what they name. */
export type GroupedUsage =
  & UsageSums
  & {
    readonly [group in UsageGroup | `${NamedGroup}_name`]?: string | null;
  };

type NamedGroup = "account" | "key";
export const isNamed = (group: UsageGroup): group is NamedGroup =>
  group === "account" || group === "key";

export interface UsageReport {
  readonly from: Date;
  /** Null: up to now. */
  readonly to: Date | null;
  readonly data: readonly GroupedUsage[];
  readonly totals: UsageSums;
  readonly archivedBefore: Date | null;
}

export interface UsageReportLimits {
  /** Receipts that one statement reads: a fraction of a second, also on the embedded database, where others wait. */
  pageSize: number;
  groupsMax: number;
  timeMs: number;
}

const LIMITS: UsageReportLimits = { pageSize: 20_000, groupsMax: 10_000, timeMs: 30_000 };

interface Group {
  readonly values: readonly (string | null)[];
  readonly sums: Sums;
}

/**
 * Sums up receipts. It reads them a page at a time, and one page of all reports at once: however many are asked for,
 * bookings find a free connection, and no snapshot is kept open for long.
 */
export class UsageReports {
  readonly #limits: UsageReportLimits;
  #lastPage: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Pick<Database, "sql">,
    limits: Partial<UsageReportLimits> = {},
  ) {
    this.#limits = { ...LIMITS, ...limits };
  }

  async read(query: UsageReportQuery): Promise<UsageReport> {
    const { sql } = this.database;
    const [{ now }] = await sql<[{ now: Date }]>`select ledger_now() as now`;
    const from = query.from ?? new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
    const before = await archivedBefore(sql);
    if (before !== null && from < before) throw archivedError(before);
    const groups = await this.#sumUp({ ...query, from }, now);
    const names = await readNames(sql, query.groupBy, groups);
    return {
      from,
      to: query.to ?? null,
      data: groups.sort(byValues).map(({ values, sums }) => ({
        ...Object.fromEntries(query.groupBy.flatMap((group, at) => [
          [group, values[at]!],
          ...(isNamed(group) ? [[`${group}_name`, names.get(values[at]!) ?? null]] : []),
        ])),
        ...toUsageSums(sums),
      })),
      totals: toUsageSums(groups.reduce((all, { sums }) => addTo(all, sums), noUsage())),
      archivedBefore: before,
    };
  }

  /** What is booked after `now` is left out: a correction of a receipt that was counted would count it twice. */
  async #sumUp(query: UsageReportQuery & { from: Date }, now: Date): Promise<Group[]> {
    const { pageSize, groupsMax, timeMs } = this.#limits;
    const groups = new Map<string, Group>();
    const deadline = performance.now() + timeMs;
    for (let place: Place | null = null;;) {
      query.signal?.throwIfAborted();
      if (performance.now() > deadline) throw tooMuch(timeMs);
      const page = await this.#inTurn(() => this.#readPage(query, now, place));
      for (const row of page.groups) {
        const name = JSON.stringify(row.values);
        const group = groups.get(name) ?? { values: row.values, sums: noUsage() };
        addTo(group.sums, toSums(row));
        groups.set(name, group);
      }
      if (groups.size > groupsMax) throw tooManyGroups(groupsMax);
      if (page.rows < pageSize) return [...groups.values()];
      place = page.last;
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lastPage.then(work);
    this.#lastPage = result.catch(() => undefined);
    return result;
  }

  async #readPage(
    query: UsageReportQuery & { from: Date },
    now: Date,
    place: Place | null,
  ): Promise<{ rows: number; last: Place | null; groups: GroupRow[] }> {
    const { pageSize, timeMs } = this.#limits;
    try {
      return await this.database.sql.begin("read only", async (tx) => {
        await tx`select set_config('statement_timeout', ${String(timeMs)}, true),
                        set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`;
        const [page] = await selectPage(tx, { ...query, now, place, pageSize });
        return { ...page, rows: Number(page.rows) };
      });
    } catch (error) {
      if ((error as { code?: unknown }).code === QUERY_CANCELED) throw tooMuch(timeMs);
      throw error;
    }
  }
}

const QUERY_CANCELED = "57014";

/** Names of accounts and keys, by their ids. */
async function readNames(
  sql: Queries,
  groupBy: readonly UsageGroup[],
  groups: readonly Group[],
): Promise<Map<string | null, string>> {
  const ids = groupBy.flatMap((group, at) => isNamed(group) ? groups.map((g) => g.values[at]!) : [])
    .filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from account where id = any (${ids})
    union all select id, name from api_key where id = any (${ids})`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Requests without a value come last. */
function byValues(a: Group, b: Group): number {
  for (const [at, left] of a.values.entries()) {
    const right = b.values[at]!;
    if (left === right) continue;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right ? -1 : 1;
  }
  return 0;
}

function archivedError(before: Date): ApiError {
  const day = before.toISOString().slice(0, 10);
  return new ApiError(
    "invalid_value",
    `Receipts before ${day} are archived and cannot be grouped: choose a period from then on. ` +
      "The statement (text/csv, without group_by) has totals of archived months.",
    { param: "from" },
  );
}

function tooManyGroups(most: number): ApiError {
  return new ApiError(
    "invalid_value",
    `The report has more than ${most} groups: choose a shorter period, filter, or group by less.`,
    { param: "group_by" },
  );
}

function tooMuch(ms: number): ApiError {
  return new ApiError(
    "invalid_value",
    `The period has more requests than can be summed up in ${
      ms / 1000
    } seconds: choose a shorter one.`,
    { param: "from" },
  );
}
