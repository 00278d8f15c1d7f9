import { decimal, formatDecimal } from "../../lib/money.ts";
import { formatDay, formatMoney, formatMoneyShort, type MoneyFormat } from "../format.ts";

/** One day of a chart: a value per series, in units of 10⁻¹². */
export interface ChartDay {
  readonly day: string;
  readonly values: readonly bigint[];
}

export interface ChartProps {
  id: string;
  title: string;
  series: readonly string[];
  days: readonly ChartDay[];
  /** Formats a value, given as a decimal string; for the axis it may be shorter. */
  format: (value: string) => string;
  formatAxis: (value: string) => string;
  /** The axis ends at this value or above. */
  axisMin: string;
}

const HEIGHT = 1000;
const STEP = 100;
const GAP = 22;

/**
 * Stacked bars by day. The bars are an SVG that stretches; labels are outside of it, so that they stay
 * readable at any width. The same figures are in a table, which the script for the tooltip reads them from.
 */
export function BarChart({ id, title, series, days, format, formatAxis, axisMin }: ChartProps) {
  const sums = days.map(({ values }) => values.reduce((sum, value) => sum + value, 0n));
  const top = niceTop(sums.reduce((max, sum) => sum > max ? sum : max, decimal(axisMin)));
  const high = (value: bigint) => Number(value * BigInt(HEIGHT) / top);
  const all = sums.reduce((total, sum) => total + sum, 0n);
  const names = days.map(({ day }) => formatDay(day));
  const totals = sums.map((sum) => format(plain(sum)));
  return (
    <figure class="chart" data-chart>
      <div class="chart-body">
        <div class="chart-axis" aria-hidden="true">
          <span>{formatAxis(plain(top))}</span>
          <span>{formatAxis(plain(top / 2n))}</span>
          <span>{formatAxis("0")}</span>
        </div>
        <div class="chart-plot">
          <svg
            viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-labelledby={`${id}-summary`}
          >
            {[0, HEIGHT / 2, HEIGHT].map((y) => (
              <line class="chart-grid" x1="0" x2={days.length * STEP} y1={y} y2={y} />
            ))}
            <rect class="chart-mark" y="0" width={STEP} height={HEIGHT} visibility="hidden" />
            {barsOf(days, high).map((bars, at) => <path class={`chart-${at + 1}`} d={bars} />)}
          </svg>
          <div class="chart-tip" hidden></div>
        </div>
        <div class="chart-days" aria-hidden="true">
          {labelled(names).map((name) => <span>{name}</span>)}
        </div>
      </div>
      <figcaption>
        <span class="sr-only" id={`${id}-summary`}>
          {title} from {names[0]} to {names.at(-1)}, total{" "}
          {format(plain(all))}. The table below has every day.
        </span>
        {series.length > 1 && (
          <ul class="chart-legend">
            {series.map((name, at) => (
              <li>
                <svg width="10" height="10" aria-hidden="true">
                  <rect class={`chart-${at + 1}`} width="10" height="10" rx="2" />
                </svg>
                {name}
              </li>
            ))}
          </ul>
        )}
        <ChartTable
          title={title}
          series={series}
          names={names}
          totals={totals}
          days={days}
          format={format}
        />
      </figcaption>
    </figure>
  );
}

function ChartTable(
  { title, series, names, totals, days, format }:
    & Pick<ChartProps, "title" | "series" | "days" | "format">
    & { names: readonly string[]; totals: readonly string[] },
) {
  return (
    <details class="chart-table">
      <summary>Show as table</summary>
      <div class="table-box" tabindex={0} role="region" aria-label={`${title} by day`}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col" class="right">{title}</th>
              {series.length > 1 &&
                series.map((name) => <th scope="col" class="right">{name}</th>)}
            </tr>
          </thead>
          <tbody>
            {days.map(({ values }, at) => (
              <tr>
                <td>{names[at]}</td>
                <td class="right">{totals[at]}</td>
                {values.length > 1 &&
                  values.map((value) => (
                    <td class="right">{value === 0n ? "" : format(plain(value))}</td>
                  ))}
              </tr>
            )).reverse()}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** Amounts of money by day. */
export function SpendChart(
  { series, currency, ...chart }:
    & Pick<ChartProps, "id" | "title" | "series" | "days">
    & { currency: MoneyFormat },
) {
  return (
    <BarChart
      {...chart}
      series={series.length === 0 ? [chart.title] : series}
      format={(value) => formatMoney(value, currency)}
      formatAxis={(value) => axisMoney(value, currency)}
      axisMin="0.000001"
    />
  );
}

/** Amounts below a cent need their decimals on the axis. */
function axisMoney(value: string, currency: MoneyFormat): string {
  return /^0\.0*[1-9]/.test(value)
    ? formatMoney(value, currency)
    : formatMoneyShort(value, currency.currency);
}

/** One path per series: one element per bar would be most of the page. */
function barsOf(days: readonly ChartDay[], high: (value: bigint) => number): string[] {
  const paths: string[] = [];
  for (const [at, { values }] of days.entries()) {
    let base = HEIGHT;
    for (const [series, value] of values.entries()) {
      const height = high(value);
      base -= height;
      paths[series] = (paths[series] ?? "") +
        (height === 0
          ? ""
          : `M${at * STEP + GAP / 2} ${base}h${STEP - GAP}v${height}h${GAP - STEP}z`);
    }
  }
  return paths;
}

/** At most five labels, the first and the last among them. */
function labelled(names: readonly string[]): string[] {
  const count = Math.min(5, names.length);
  return Array.from(
    { length: count },
    (_, at) => names[Math.round(at * (names.length - 1) / Math.max(1, count - 1))]!,
  );
}

/** The end of the axis: 2, 4, 6, 8 or 10 times a power of ten, so that its middle is round too. */
export function niceTop(max: bigint): bigint {
  let step = 1n;
  while (step * 10n < max) step *= 10n;
  return [2n, 4n, 6n, 8n, 10n].map((times) => times * step).find((value) => value >= max)!;
}

function plain(value: bigint): string {
  return formatDecimal(value, 0);
}
