import { decimal, formatDecimal } from "../../base/money.ts";
import { dayShort } from "./format.ts";

/** One day of a chart: a value per series, as decimal strings. */
export interface ChartDay {
  readonly day: string;
  readonly values: readonly string[];
}

export interface ChartProps {
  id: string;
  title: string;
  series: readonly string[];
  days: readonly ChartDay[];
  /** How values are written, and how on the axis. */
  show: (value: string) => string;
  showShort: (value: string) => string;
  /** The axis reaches this far at the least. */
  least: string;
}

const HEIGHT = 1000;
const STEP = 100;
const GAP = 22;

/**
 * Bars by day, one on another. The bars are drawn in a picture that stretches; words are outside of it, so
 * that they stay readable at any width. The same figures are there as a table.
 */
export function BarChart({ id, title, series, days, show, showShort, least }: ChartProps) {
  const totals = days.map(({ values }) => values.reduce((sum, value) => sum + decimal(value), 0n));
  const top = niceTop(totals.reduce((most, total) => total > most ? total : most, decimal(least)));
  const high = (value: bigint) => Number(value * BigInt(HEIGHT) / top);
  const sum = totals.reduce((all, total) => all + total, 0n);
  return (
    <figure class="chart" data-chart>
      <div class="chart-body">
        <div class="chart-axis" aria-hidden="true">
          <span>{showShort(plain(top))}</span>
          <span>{showShort(plain(top / 2n))}</span>
          <span>{showShort("0")}</span>
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
            {days.map(({ day, values }, at) => (
              <Bar
                x={at * STEP}
                heights={values.map((value) => high(decimal(value)))}
                told={tell(day, series, values, show)}
                total={show(plain(totals[at]!))}
                day={dayShort(day)}
              />
            ))}
          </svg>
          <div class="chart-tip" hidden></div>
        </div>
        <div class="chart-days" aria-hidden="true">
          {labelled(days).map(({ day }) => <span>{dayShort(day)}</span>)}
        </div>
      </div>
      <figcaption>
        <span class="sr-only" id={`${id}-summary`}>
          {title} from {dayShort(days[0]!.day)} to {dayShort(days.at(-1)!.day)}, in all{" "}
          {show(plain(sum))}. The table that follows has every day.
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
        <details class="chart-table">
          <summary>Show as a table</summary>
          <div class="table-box" tabindex={0} role="region" aria-label={`${title} by day`}>
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Day</th>
                  {series.map((name) => <th scope="col" class="right">{name}</th>)}
                </tr>
              </thead>
              <tbody>
                {days.toReversed().map(({ day, values }) => (
                  <tr>
                    <td>{dayShort(day)}</td>
                    {values.map((value) => <td class="right">{show(value)}</td>)}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      </figcaption>
    </figure>
  );
}

function Bar(
  { x, heights, told, total, day }: {
    x: number;
    heights: number[];
    told: string;
    total: string;
    day: string;
  },
) {
  let base = HEIGHT;
  return (
    <g class="chart-day" data-day={day} data-total={total} data-told={told}>
      <title>{`${day}: ${told === "" ? total : told}`}</title>
      <rect class="chart-hit" x={x} y="0" width={STEP} height={HEIGHT} />
      {heights.map((height, at) => {
        if (height === 0) return null;
        base -= height;
        return (
          <rect
            class={`chart-${at + 1}`}
            x={x + GAP / 2}
            y={base}
            width={STEP - GAP}
            height={height}
          />
        );
      })}
    </g>
  );
}

function tell(
  day: string,
  series: readonly string[],
  values: readonly string[],
  show: (value: string) => string,
): string {
  if (series.length === 1) return "";
  return values.map((value, at) => decimal(value) === 0n ? "" : `${series[at]} ${show(value)}`)
    .filter((text) => text !== "").join(", ") || `nothing on ${day}`;
}

/** At most five labels below, the first and the last among them. */
function labelled(days: readonly ChartDay[]): ChartDay[] {
  const most = Math.min(5, days.length);
  return Array.from(
    { length: most },
    (_, at) => days[Math.round(at * (days.length - 1) / Math.max(1, most - 1))]!,
  );
}

/** The axis ends at 2, 4, 6, 8 or 10 times a power of ten, so that its middle is a round figure too. */
export function niceTop(most: bigint): bigint {
  let step = 1n;
  while (step * 10n < most) step *= 10n;
  return [2n, 4n, 6n, 8n, 10n].map((times) => times * step).find((value) => value >= most)!;
}

function plain(value: bigint): string {
  return formatDecimal(value, 0);
}
