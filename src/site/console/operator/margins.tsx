import { decimal, formatDecimal } from "../../../lib/money.ts";
import { type UsageDay, usageDays } from "../../../domain/ledger/usage_days.ts";
import type { SiteContext } from "../../context.ts";
import { Empty, Notice } from "../../parts.tsx";
import { BarChart } from "../chart.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { formatCount, money, plural } from "../format.ts";
import { axisMoney } from "../overview.tsx";
import { ChoiceLinks, Head, sendConsole, TableCard } from "../shell.tsx";
import { dayAgo, figuresOf } from "../usage_figures.ts";

const SPANS = [["7", "7 days"], ["30", "30 days"], ["90", "90 days"]] as const;

interface Line {
  model: string;
  calls: number;
  failed: number;
  uncosted: number;
  quota: number;
  revenue: bigint;
  cost: bigint;
}

/** GET /console/operator/margins: what came in, and what upstreams charge for it. */
export function marginsPage({ database }: ConsoleDeps) {
  return async function marginsPage(c: SiteContext): Promise<Response> {
    const { currency } = c.env.config.service;
    const asked = c.req.query("days");
    const days = SPANS.some(([value]) => value === asked) ? asked! : "30";
    const span = Number(days);
    const rows = await usageDays(database.sql, { from: dayAgo(span - 1) });
    const lines = byModel(rows);
    const total = lines.reduce(add, blank("all"));
    const points = rows.map((row) => ({
      ...row,
      charged: decimal(row.charged),
      tokens: row.input_tokens + row.output_tokens,
    }));
    const { models, spend } = figuresOf(points, span);
    const show = (value: bigint) => money(formatDecimal(value), currency);
    return sendConsole(
      c,
      { section: "margins", title: "Revenue and cost", scripts: ["chart"] },
      <>
        <Head
          title="Revenue and cost"
          note="Revenue is money taken from balances, at settlement. Cost is what the declaration says the upstream that answered charges."
        >
          <ChoiceLinks
            label="Period"
            name="days"
            options={SPANS}
            value={days}
            path="/console/operator/margins"
            query={{}}
          />
        </Head>
        {lines.length === 0
          ? (
            <section class="card">
              <Empty title="Nothing was called yet">
                <p>With the first call, its model appears here.</p>
              </Empty>
            </section>
          )
          : (
            <>
              <section class="card stack">
                <dl class="balance-parts">
                  <div class="figure">
                    <dt>Revenue</dt>
                    <dd>{show(total.revenue)}</dd>
                  </div>
                  <div class="figure">
                    <dt>Cost</dt>
                    <dd>{show(total.cost)}</dd>
                  </div>
                  <div class="figure">
                    <dt>Margin</dt>
                    <dd class={total.revenue < total.cost ? "bad" : ""}>
                      {show(total.revenue - total.cost)}
                    </dd>
                    <dd class="figure-note">{percent(total)}</dd>
                  </div>
                  <div class="figure">
                    <dt>Calls</dt>
                    <dd>{formatCount(total.calls)}</dd>
                    <dd class="figure-note">{formatCount(total.failed)} failed</dd>
                  </div>
                </dl>
                <BarChart
                  id="revenue"
                  title="Revenue"
                  series={models}
                  days={spend}
                  show={(value) => money(value, currency)}
                  showShort={(value) => axisMoney(value, currency)}
                  least="0.000001"
                />
              </section>
              {total.uncosted > 0 && (
                <Notice kind="warn">
                  {plural(total.uncosted, "call")}{" "}
                  went to upstreams whose cost is not declared: margins of those models look better
                  than they are. Add <code>cost</code> to their upstreams.
                </Notice>
              )}
              <TableCard
                title="By model"
                columns={[
                  "Model",
                  ["Calls", "right"],
                  ["Revenue", "right"],
                  ["Cost", "right"],
                  ["Margin", "right"],
                  ["Of revenue", "right"],
                ]}
              >
                {lines.map((line) => (
                  <tr>
                    <td data-label="Model">
                      <span>
                        <span class="strong">{line.model}</span>
                        {line.quota > 0 && (
                          <span class="small faint account-id">
                            {formatCount(line.quota)} units paid by quotas
                          </span>
                        )}
                      </span>
                    </td>
                    <td data-label="Calls" class="right">{formatCount(line.calls)}</td>
                    <td data-label="Revenue" class="right">{show(line.revenue)}</td>
                    <td data-label="Cost" class="right">
                      {line.uncosted === line.calls
                        ? <span class="faint">not declared</span>
                        : show(line.cost)}
                    </td>
                    <td
                      data-label="Margin"
                      class={`right ${line.revenue < line.cost ? "bad" : ""}`}
                    >
                      {show(line.revenue - line.cost)}
                    </td>
                    <td data-label="Of revenue" class="right">{percent(line)}</td>
                  </tr>
                ))}
              </TableCard>
            </>
          )}
      </>,
    );
  };
}

function blank(model: string): Line {
  return { model, calls: 0, failed: 0, uncosted: 0, quota: 0, revenue: 0n, cost: 0n };
}

function add(sum: Line, line: Omit<Line, "model">): Line {
  return {
    model: sum.model,
    calls: sum.calls + line.calls,
    failed: sum.failed + line.failed,
    uncosted: sum.uncosted + line.uncosted,
    quota: sum.quota + line.quota,
    revenue: sum.revenue + line.revenue,
    cost: sum.cost + line.cost,
  };
}

function byModel(rows: readonly UsageDay[]): Line[] {
  const lines = new Map<string, Line>();
  for (const row of rows) {
    const line = { ...row, revenue: decimal(row.charged), cost: decimal(row.cost) };
    lines.set(row.model, add(lines.get(row.model) ?? blank(row.model), line));
  }
  return [...lines.values()].sort((a, b) =>
    a.revenue === b.revenue ? b.calls - a.calls : a.revenue < b.revenue ? 1 : -1
  );
}

/** The margin as a share of revenue, to a tenth of a percent. */
function percent({ revenue, cost }: Line): string {
  if (revenue === 0n) return "";
  const tenths = (revenue - cost) * 1000n / revenue;
  const [sign, size] = tenths < 0n ? ["−", -tenths] : ["", tenths];
  return `${sign}${size / 10n}.${size % 10n} %`;
}
