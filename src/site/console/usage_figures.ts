import { decimal, formatDecimal } from "../../lib/money.ts";
import type { UsagePoint } from "../../domain/ledger/usage_days.ts";
import type { ChartDay } from "./chart.tsx";

const SERIES_MAX = 5;

/** Periods that a chart can be of, in days. */
export const PERIODS = [7, 30, 90].map((days) => [String(days), `${days} days`] as const);
const PERIOD_DEFAULT = "30";

/** The days of a period as a query names it. */
export function readPeriodDays(value: string | undefined): number {
  const known = PERIODS.find(([days]) => days === value)?.[0];
  return Number(known ?? PERIOD_DEFAULT);
}

export interface UsageFigures {
  /** Models with the most spend first; those beyond the limit as one. */
  readonly models: readonly string[];
  readonly spend: readonly ChartDay[];
  readonly calls: readonly ChartDay[];
  readonly totals: {
    readonly charged: string;
    readonly calls: number;
    readonly failed: number;
    readonly tokens: number;
  };
}

/** The date so many days ago, in UTC; 0 is today. */
export function dayAgo(days: number, now = Date.now()): string {
  return new Date(now - days * 86_400_000).toISOString().slice(0, 10);
}

/** Usage for charts: every day of the span, also those without any. */
export function figuresOf(
  points: readonly UsagePoint[],
  span: number,
  now = Date.now(),
): UsageFigures {
  const byModel = new Map<string, { charged: bigint; calls: number }>();
  const totals = { charged: 0n, calls: 0, failed: 0, tokens: 0 };
  for (const { model, charged, calls, failed, tokens } of points) {
    const sum = byModel.get(model) ?? { charged: 0n, calls: 0 };
    byModel.set(model, sum);
    sum.charged += charged;
    sum.calls += calls;
    totals.charged += charged;
    totals.calls += calls;
    totals.failed += failed;
    totals.tokens += tokens;
  }
  const ranked = [...byModel].sort(([, a], [, b]) =>
    a.charged === b.charged ? b.calls - a.calls : a.charged < b.charged ? 1 : -1
  ).map(([id]) => id);
  const charted = ranked.slice(0, ranked.length > SERIES_MAX + 1 ? SERIES_MAX : SERIES_MAX + 1);
  const models = ranked.length > charted.length ? [...charted, "Others"] : charted;
  const seriesOf = new Map(charted.map((id, at) => [id, at]));

  const days = new Map<string, { day: string; spend: bigint[]; calls: number }>(
    Array.from({ length: span }, (_, at) => {
      const day = dayAgo(span - 1 - at, now);
      return [day, { day, spend: models.map(() => 0n), calls: 0 }];
    }),
  );
  for (const { day, model, charged, calls } of points) {
    const sum = days.get(day);
    if (sum === undefined) continue;
    sum.spend[seriesOf.get(model) ?? models.length - 1]! += charged;
    sum.calls += calls;
  }
  const each = [...days.values()];
  return {
    models,
    spend: each.map(({ day, spend }) => ({ day, values: spend })),
    calls: each.map(({ day, calls }) => ({ day, values: [BigInt(calls) * ONE] })),
    totals: { ...totals, charged: formatDecimal(totals.charged) },
  };
}

const ONE = decimal("1");
