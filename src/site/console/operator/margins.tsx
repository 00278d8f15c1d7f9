import { type GroupedMargin, listMargins, type Margin } from "../../../domain/ledger/margins.ts";
import { type UsageDay, usageDays } from "../../../domain/ledger/usage_days.ts";
import { decimal } from "../../../lib/money.ts";
import type { SiteContext } from "../../context.ts";
import { formatCount, type MoneyFormat, plural } from "../../format.ts";
import { Money } from "../../money.tsx";
import { Empty, Notice } from "../../parts.tsx";
import { SpendChart } from "../chart.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { ChoiceLinks, Head, sendConsole, TableCard } from "../shell.tsx";
import { dayAgo, figuresOf, PERIODS, readPeriodDays } from "../usage_figures.ts";

const PATH = "/console/operator/margins";

/** What the table can be grouped by. */
const GROUPS = [
  ["model", "Model"],
  ["provider", "Provider"],
  ["account", "Account"],
  ["plan", "Plan"],
  ["month", "Month"],
] as const;

/** GET /console/operator/margins: revenue against what upstreams charge. */
export function marginsPage({ database: { sql } }: ConsoleDeps) {
  return async function marginsPage(c: SiteContext): Promise<Response> {
    const { service } = c.env.config;
    const span = readPeriodDays(c.req.query("days"));
    const [group, name] = GROUPS.find(([id]) => id === c.req.query("by")) ?? GROUPS[0];
    const from = dayAgo(span - 1);
    const [rows, { data, totals }] = await Promise.all([
      usageDays(sql, { from }),
      listMargins(sql, { groupBy: [group], from }),
    ]);
    const lines = data.map((margin) => ({ ...margin, name: margin[group] ?? "None" }));
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
            query={{ by: group }}
          />
          <ChoiceLinks
            label="Group by"
            name="by"
            options={GROUPS}
            value={group}
            path={PATH}
            query={{ days: String(span) }}
          />
        </Head>
        {lines.length === 0
          ? (
            <section class="card">
              <Empty title="No requests yet">
                <p>Models appear here with their first request.</p>
              </Empty>
            </section>
          )
          : (
            <>
              <Totals rows={rows} totals={totals} span={span} currency={service} />
              <MarginTable name={name} margins={lines} currency={service} />
            </>
          )}
      </>,
    );
  };
}

function Totals(
  { rows, totals, span, currency }: {
    rows: readonly UsageDay[];
    totals: Margin;
    span: number;
    currency: MoneyFormat;
  },
) {
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
              <Money amount={totals.revenue} currency={currency} />
            </dd>
          </div>
          <div class="figure">
            <dt>Cost</dt>
            <dd>
              <KnownAmount amount={totals.cost} currency={currency} />
            </dd>
          </div>
          <div class="figure">
            <dt>Margin</dt>
            <dd class={isLoss(totals) ? "bad" : ""}>
              <KnownAmount amount={totals.margin} currency={currency} />
            </dd>
            <dd class="figure-note">{percent(totals)}</dd>
          </div>
          <div class="figure">
            <dt>Requests</dt>
            <dd>{formatCount(totals.requests)}</dd>
            <dd class="figure-note">{formatCount(totals.failed)} failed</dd>
          </div>
        </dl>
        <SpendChart id="revenue" title="Revenue" series={models} days={spend} currency={currency} />
      </section>
      {totals.uncosted > 0 && (
        <Notice kind="warn">
          The cost of {plural(totals.uncosted, "request")}{" "}
          (or parts of dramas) is unknown, because their upstreams have no <code>cost</code>{" "}
          for them. Margins leave out the{" "}
          <Money amount={totals.uncosted_revenue} currency={currency} /> charged for them.
        </Notice>
      )}
    </>
  );
}

function MarginTable(
  { name, margins, currency }: {
    name: string;
    margins: readonly (GroupedMargin & { name: string })[];
    currency: MoneyFormat;
  },
) {
  return (
    <TableCard
      title={`By ${name.toLowerCase()}`}
      columns={[
        name,
        ["Requests", "right"],
        ["Revenue", "right"],
        ["Cost", "right"],
        ["Margin", "right"],
        ["Margin %", "right"],
      ]}
    >
      {mostRevenueFirst(margins).map((margin) => (
        <tr>
          <td data-label={name}>
            <span>
              <span class="strong">{margin.name}</span>
              {notesOf(margin).map((note) => <span class="small faint block">{note}</span>)}
            </span>
          </td>
          <td data-label="Requests" class="right">{formatCount(margin.requests)}</td>
          <td data-label="Revenue" class="right">
            <Money amount={margin.revenue} currency={currency} />
          </td>
          <td data-label="Cost" class="right">
            <KnownAmount amount={margin.cost} currency={currency} />
          </td>
          <td data-label="Margin" class={`right ${isLoss(margin) ? "bad" : ""}`}>
            <KnownAmount amount={margin.margin} currency={currency} />
          </td>
          <td data-label="Margin %" class="right">{percent(margin)}</td>
        </tr>
      ))}
    </TableCard>
  );
}

function KnownAmount({ amount, currency }: { amount: string | null; currency: MoneyFormat }) {
  return amount === null
    ? <span class="faint">Unknown</span>
    : <Money amount={amount} currency={currency} />;
}

function notesOf({ quota, capped, uncosted, requests }: Margin): string[] {
  return [
    ...(quota > 0 ? [`${plural(quota, "unit")} paid from quotas`] : []),
    ...(capped > 0 ? [`${plural(capped, "request")} charged less than the price`] : []),
    ...(uncosted > 0 && uncosted !== requests ? [`Cost of ${formatCount(uncosted)} unknown`] : []),
  ];
}

function mostRevenueFirst<Line extends Margin>(margins: readonly Line[]): Line[] {
  return margins.toSorted((a, b) => {
    const [first, second] = [decimal(a.revenue), decimal(b.revenue)];
    return first === second ? b.requests - a.requests : first < second ? 1 : -1;
  });
}

function isLoss({ margin }: Margin): boolean {
  return margin?.startsWith("-") === true;
}

function percent({ margin_percent }: Margin): string {
  return margin_percent === null ? "—" : `${margin_percent.replace("-", "−")}%`;
}
