import { type UsageDay, usageDays } from "../../../domain/ledger/usage_days.ts";
import { decimal, formatDecimal } from "../../../lib/money.ts";
import type { SiteContext } from "../../context.ts";
import { formatCount, type MoneyFormat, plural } from "../../format.ts";
import { Money } from "../../money.tsx";
import { Empty, Notice } from "../../parts.tsx";
import { SpendChart } from "../chart.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { ChoiceLinks, Head, sendConsole, TableCard } from "../shell.tsx";
import { dayAgo, figuresOf, PERIODS, readPeriodDays } from "../usage_figures.ts";

const PATH = "/console/operator/margins";

/** Revenue and cost of a model over the period. */
interface ModelMargin {
  model: string;
  calls: number;
  failed: number;
  uncosted: number;
  quota: number;
  revenue: bigint;
  cost: bigint;
}

/** GET /console/operator/margins: revenue against what upstreams charge. */
export function marginsPage({ database }: ConsoleDeps) {
  return async function marginsPage(c: SiteContext): Promise<Response> {
    const { service } = c.env.config;
    const span = readPeriodDays(c.req.query("days"));
    const rows = await usageDays(database.sql, { from: dayAgo(span - 1) });
    const margins = byModel(rows);
    return sendConsole(
      c,
      { section: "margins", title: "Revenue and cost", scripts: ["chart"] },
      <>
        <Head
          title="Revenue and cost"
          note="Revenue is what settled requests charged. Cost is what the configuration says their upstreams charge."
        >
          <ChoiceLinks
            label="Period"
            name="days"
            options={PERIODS}
            value={String(span)}
            path={PATH}
            query={{}}
          />
        </Head>
        {margins.length === 0
          ? (
            <section class="card">
              <Empty title="No requests yet">
                <p>Models appear here with their first request.</p>
              </Empty>
            </section>
          )
          : (
            <>
              <Totals rows={rows} margins={margins} span={span} currency={service} />
              <MarginTable margins={margins} currency={service} />
            </>
          )}
      </>,
    );
  };
}

function Totals(
  { rows, margins, span, currency }: {
    rows: readonly UsageDay[];
    margins: readonly ModelMargin[];
    span: number;
    currency: MoneyFormat;
  },
) {
  const total = margins.reduce(addMargin, emptyMargin("all"));
  const points = rows.map((row) => ({
    ...row,
    charged: decimal(row.charged),
    tokens: row.input_tokens + row.output_tokens,
  }));
  const { models, spend } = figuresOf(points, span);
  return (
    <>
      <section class="card stack">
        <dl class="balance-parts">
          <div class="figure">
            <dt>Revenue</dt>
            <dd>
              <Money amount={formatDecimal(total.revenue)} currency={currency} />
            </dd>
          </div>
          <div class="figure">
            <dt>Cost</dt>
            <dd>
              <Money amount={formatDecimal(total.cost)} currency={currency} />
            </dd>
          </div>
          <div class="figure">
            <dt>Margin</dt>
            <dd class={total.revenue < total.cost ? "bad" : ""}>
              <Money amount={formatDecimal(total.revenue - total.cost)} currency={currency} />
            </dd>
            <dd class="figure-note">{percent(total)}</dd>
          </div>
          <div class="figure">
            <dt>Requests</dt>
            <dd>{formatCount(total.calls)}</dd>
            <dd class="figure-note">{formatCount(total.failed)} failed</dd>
          </div>
        </dl>
        <SpendChart id="revenue" title="Revenue" series={models} days={spend} currency={currency} />
      </section>
      {total.uncosted > 0 && (
        <Notice kind="warn">
          {plural(total.uncosted, "request")}{" "}
          went to upstreams without a configured cost: the margins of those models look better than
          they are. Add <code>cost</code> to their upstreams.
        </Notice>
      )}
    </>
  );
}

function MarginTable(
  { margins, currency }: { margins: readonly ModelMargin[]; currency: MoneyFormat },
) {
  return (
    <TableCard
      title="By model"
      columns={[
        "Model",
        ["Requests", "right"],
        ["Revenue", "right"],
        ["Cost", "right"],
        ["Margin", "right"],
        ["Margin %", "right"],
      ]}
    >
      {margins.map((margin) => (
        <tr>
          <td data-label="Model">
            <span>
              <span class="strong">{margin.model}</span>
              {margin.quota > 0 && (
                <span class="small faint block">
                  {plural(margin.quota, "unit")} paid from quotas
                </span>
              )}
            </span>
          </td>
          <td data-label="Requests" class="right">{formatCount(margin.calls)}</td>
          <td data-label="Revenue" class="right">
            <Money amount={formatDecimal(margin.revenue)} currency={currency} />
          </td>
          <td data-label="Cost" class="right">
            {margin.uncosted === margin.calls
              ? <span class="faint">Not configured</span>
              : <Money amount={formatDecimal(margin.cost)} currency={currency} />}
          </td>
          <td data-label="Margin" class={`right ${margin.revenue < margin.cost ? "bad" : ""}`}>
            <Money amount={formatDecimal(margin.revenue - margin.cost)} currency={currency} />
          </td>
          <td data-label="Margin %" class="right">{percent(margin)}</td>
        </tr>
      ))}
    </TableCard>
  );
}

function emptyMargin(model: string): ModelMargin {
  return { model, calls: 0, failed: 0, uncosted: 0, quota: 0, revenue: 0n, cost: 0n };
}

function addMargin(sum: ModelMargin, margin: Omit<ModelMargin, "model">): ModelMargin {
  return {
    model: sum.model,
    calls: sum.calls + margin.calls,
    failed: sum.failed + margin.failed,
    uncosted: sum.uncosted + margin.uncosted,
    quota: sum.quota + margin.quota,
    revenue: sum.revenue + margin.revenue,
    cost: sum.cost + margin.cost,
  };
}

/** The margins of all models, those with the most revenue first. */
function byModel(rows: readonly UsageDay[]): ModelMargin[] {
  const margins = new Map<string, ModelMargin>();
  for (const row of rows) {
    const margin = { ...row, revenue: decimal(row.charged), cost: decimal(row.cost) };
    const sum = margins.get(row.model) ?? emptyMargin(row.model);
    margins.set(row.model, addMargin(sum, margin));
  }
  return [...margins.values()].sort((a, b) =>
    a.revenue === b.revenue ? b.calls - a.calls : a.revenue < b.revenue ? 1 : -1
  );
}

/** The margin as a share of revenue, to a tenth of a percent. */
function percent({ revenue, cost }: ModelMargin): string {
  if (revenue === 0n) return "—";
  const tenths = (revenue - cost) * 1000n / revenue;
  const [sign, size] = tenths < 0n ? ["−", -tenths] : ["", tenths];
  return `${sign}${size / 10n}.${size % 10n}%`;
}
