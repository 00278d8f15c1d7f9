import type postgres from "postgres";
import { ApiError } from "../../lib/api_error.ts";
import { idPrefixAt } from "../../lib/ids.ts";
import { trimDecimal } from "../../lib/money.ts";

/** How far back figures go. */
export const WINDOWS = { "15m": 900, "1h": 3_600, "6h": 21_600, "24h": 86_400 } as const;
export type WindowName = keyof typeof WINDOWS;

/** What became of the attempts at one upstream, how long they took and what they cost. */
export interface UpstreamFigures {
  readonly attempts: number;
  /** Of the attempts that were not given up: the part that succeeded. Null: there were none. */
  readonly success_rate: number | null;
  /** Number of attempts by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Of those that succeeded. */
  readonly latency_ms: { readonly p50: number; readonly p95: number } | null;
  /** What the provider charges, as far as the configuration says. */
  readonly cost: string;
  /** Settled requests whose cost the configuration does not say. */
  readonly uncosted: number;
}

export const NO_FIGURES: UpstreamFigures = {
  attempts: 0,
  success_rate: null,
  outcomes: {},
  latency_ms: null,
  cost: "0.00",
  uncosted: 0,
};

/** Neither success nor failure of an upstream. */
const GIVEN_UP = new Set(["abandoned", "cancelled", "submitting", "running"]);
const STATEMENT_MS = 20_000;
/** Postgres: a statement took longer than its limit. */
const CANCELLED = "57014";

interface AttemptRow {
  upstream: string;
  /** Null: of all outcomes. */
  outcome: string | null;
  attempts: number;
  p50: number | null;
  p95: number | null;
}

interface CostRow {
  upstream: string;
  cost: string;
  uncosted: number;
}

/** Figures by `provider/model`, from the request log, tasks and receipts of all nodes. */
export async function findUpstreamFigures(
  sql: postgres.Sql,
  window: WindowName,
): Promise<Map<string, UpstreamFigures>> {
  try {
    return await sql.begin(async (tx) => {
      await tx.unsafe(`set local statement_timeout = ${STATEMENT_MS}`);
      const [{ now }] = await tx<[{ now: Date }]>`select now() as now`;
      const from = new Date(now.getTime() - WINDOWS[window] * 1000);
      return combine(await countAttempts(tx, from), await sumCosts(tx, from));
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== CANCELLED) throw error;
    throw new ApiError("invalid_value", "There are too many requests: ask for a shorter window.", {
      param: "window",
    });
  }
}

/** Of chats by the request log. Of tasks: submissions that failed, and the last one with what became of the task. */
async function countAttempts(sql: postgres.TransactionSql, from: Date): Promise<AttemptRow[]> {
  const task = idPrefixAt("task", from.getTime());
  return await sql<AttemptRow[]>`
    with attempt as (
      select a.provider || '/' || a.model as upstream, a.outcome, a.duration_ms
        from request r, json_to_recordset(r.attempts)
               as a (provider text, model text, outcome text, duration_ms float8)
       where r.created_at >= ${from} and r.attempts is not null
      union all
      select a.provider || '/' || a.model, a.outcome, a.duration_ms
        from task t, jsonb_to_recordset(t.attempts)
               as a (provider text, model text, outcome text, duration_ms float8)
       where t.id >= ${task}
      union all
      select t.provider || '/' || t.upstream_model,
             case t.status when 'succeeded' then 'ok' when 'queued' then 'submitting' else t.status end,
             extract(epoch from t.completed_at - t.submitted_at) * 1000
        from task t
       where t.id >= ${task} and t.provider is not null and t.submitted_at is not null)
    select upstream, outcome, count(*)::int as attempts,
           percentile_cont(0.5) within group (order by duration_ms) filter (where outcome = 'ok') as p50,
           percentile_cont(0.95) within group (order by duration_ms) filter (where outcome = 'ok') as p95
      from attempt
     group by grouping sets ((upstream), (upstream, outcome))`;
}

/** A drama has its upstreams in its parts. */
async function sumCosts(sql: postgres.TransactionSql, from: Date): Promise<CostRow[]> {
  const receipt = idPrefixAt("req", from.getTime());
  return await sql<CostRow[]>`
    select upstream, coalesce(sum(cost), 0)::text as cost,
           count(*) filter (where cost is null)::int as uncosted
      from (select upstream, cost from final_receipt where id >= ${receipt} and state = 'settled'
            union all
            select upstream, cost from receipt_part where receipt_id >= ${receipt}) c
     where upstream is not null
     group by upstream`;
}

function combine(
  attempts: readonly AttemptRow[],
  costs: readonly CostRow[],
): Map<string, UpstreamFigures> {
  const figures = new Map<string, UpstreamFigures>();
  for (const [upstream, rows] of Map.groupBy(attempts, (row) => row.upstream)) {
    figures.set(upstream, { ...NO_FIGURES, ...figuresOf(rows) });
  }
  for (const { upstream, cost, uncosted } of costs) {
    const known = figures.get(upstream) ?? NO_FIGURES;
    figures.set(upstream, { ...known, cost: trimDecimal(cost), uncosted });
  }
  return figures;
}

function figuresOf(rows: readonly AttemptRow[]): Partial<UpstreamFigures> {
  const all = rows.find(({ outcome }) => outcome === null)!;
  const outcomes = Object.fromEntries(
    rows.flatMap(({ outcome, attempts }) => outcome === null ? [] : [[outcome, attempts]]),
  );
  const decided = Object.entries(outcomes).filter(([outcome]) => !GIVEN_UP.has(outcome))
    .reduce((sum, [, count]) => sum + count, 0);
  return {
    attempts: all.attempts,
    success_rate: decided === 0 ? null : (outcomes.ok ?? 0) / decided,
    outcomes,
    latency_ms: all.p50 === null || all.p95 === null
      ? null
      : { p50: Math.round(all.p50), p95: Math.round(all.p95) },
  };
}
