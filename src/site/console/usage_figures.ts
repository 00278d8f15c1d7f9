import { decimal, formatDecimal } from "../../base/money.ts";
import type { UsageDay } from "../../ledger/usage_days.ts";
import type { ChartDay } from "./chart.tsx";

const SERIES_MAX = 5;

export interface UsageFigures {
  /** Models by what was spent on them, the rest as one. */
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

/** The day so many days ago, in UTC; 0 is today. */
export function dayAgo(days: number, now = Date.now()): string {
  return new Date(now - days * 86_400_000).toISOString().slice(0, 10);
}

/** Usage as charts need it: every day of the span, also those without any. */
export function figuresOf(
  rows: readonly UsageDay[],
  span: number,
  now = Date.now(),
): UsageFigures {
  const byModel = new Map<string, { charged: bigint; calls: number }>();
  const totals = { charged: 0n, calls: 0, failed: 0, tokens: 0 };
  for (const row of rows) {
    const charged = decimal(row.charged);
    const model = byModel.get(row.model) ?? { charged: 0n, calls: 0 };
    byModel.set(row.model, { charged: model.charged + charged, calls: model.calls + row.calls });
    totals.charged += charged;
    totals.calls += row.calls;
    totals.failed += row.failed;
    totals.tokens += row.input_tokens + row.output_tokens;
  }
  const ranked = [...byModel].sort(([, a], [, b]) =>
    a.charged === b.charged ? b.calls - a.calls : a.charged < b.charged ? 1 : -1
  ).map(([id]) => id);
  const shown = ranked.slice(0, ranked.length > SERIES_MAX + 1 ? SERIES_MAX : SERIES_MAX + 1);
  const models = ranked.length > shown.length ? [...shown, "Others"] : shown;
  const place = new Map(shown.map((id, at) => [id, at]));

  const days = Array.from({ length: span }, (_, at) => dayAgo(span - 1 - at, now));
  const blank = () => new Map(days.map((day) => [day, models.map(() => 0n)]));
  const spend = blank();
  const calls = new Map(days.map((day) => [day, 0]));
  for (const { day, model, charged, calls: made } of rows) {
    const sums = spend.get(day);
    if (sums === undefined) continue;
    sums[place.get(model) ?? models.length - 1]! += decimal(charged);
    calls.set(day, calls.get(day)! + made);
  }
  return {
    models,
    spend: [...spend].map(([day, sums]) => ({
      day,
      values: sums.map((sum) => formatDecimal(sum, 0)),
    })),
    calls: [...calls].map(([day, made]) => ({ day, values: [String(made)] })),
    totals: { ...totals, charged: formatDecimal(totals.charged) },
  };
}
