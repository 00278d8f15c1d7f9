import { z } from "zod";
import { isVisible } from "../../platform/config/config.ts";
import { decimal } from "../../lib/money.ts";
import { REPORTED_QUANTITIES } from "../../model_types/usage.ts";
import type { SiteContext } from "../context.ts";
import {
  formatCount,
  formatDate,
  formatMoney,
  isZero,
  type MoneyFormat,
  plural,
} from "../format.ts";
import { Money } from "../money.tsx";
import { Empty, Field, Notice } from "../parts.tsx";
import { Time } from "../time.tsx";
import { callApiAs, pricedAccountOf } from "./account.ts";
import { type DayPeriod, readDays } from "./days.ts";
import type { ConsoleDeps } from "./deps.ts";
import { quantityTexts } from "./quantity_texts.ts";
import { ChoiceLinks, Head, sendConsole, TableCard, withQuery } from "./shell.tsx";

export const USAGE_PATH = "/console/usage";

/** What the table can be grouped by. */
const GROUPS = [["day", "Day"], ["model", "Model"], ["key", "API key"]] as const;
type Group = (typeof GROUPS)[number];

const Sums = z.looseObject({
  requests: z.number(),
  failed: z.number(),
  charged: z.string(),
  gift: z.string(),
  quota: z.number(),
  day: z.string().optional(),
  model: z.string().nullish(),
  key: z.string().nullish(),
  key_name: z.string().nullish(),
});
type Sums = z.infer<typeof Sums>;
const Report = z.object({
  from: z.string(),
  data: z.array(Sums),
  totals: Sums,
  archived_before: z.string().nullable(),
});
type Report = z.infer<typeof Report>;
const ErrorBody = z.object({ error: z.object({ message: z.string() }) });

/** GET /console/usage: what was charged in a period, summed up by the API. */
export function usagePage(deps: ConsoleDeps) {
  return async function usagePage(c: SiteContext): Promise<Response> {
    const group = GROUPS.find(([id]) => id === c.req.query("by")) ?? GROUPS[0];
    const period = readDays(c);
    const query = { group_by: group[0], from: period.from, to: period.to };
    const url = new URL(withQuery("/v1/usage", query), c.req.url);
    const response = await callApiAs(deps, c, new Request(url));
    const body = await response.json();
    const report = response.ok ? Report.parse(body) : null;
    const account = await pricedAccountOf(c, deps);
    const { service, models } = c.env.config;
    const hasPage = (model: string) => models.has(model) && isVisible(models.get(model)!, account);
    return sendConsole(
      c,
      { section: "usage", title: "Usage", status: response.status },
      <>
        <Head title="Usage" note="What your requests used and were charged, by the day they ended.">
          <ChoiceLinks
            label="Group by"
            name="by"
            options={GROUPS}
            value={group[0]}
            path={USAGE_PATH}
            query={{ from: period.from, to: period.to }}
          />
        </Head>
        <Filters group={group} period={period} report={report} />
        {report === null
          ? <Notice kind="bad" role="alert">{ErrorBody.parse(body).error.message}</Notice>
          : <Usage group={group} report={report} currency={service} hasPage={hasPage} />}
      </>,
    );
  };
}

function Filters(
  { group: [id], period, report }: { group: Group; period: DayPeriod; report: Report | null },
) {
  const { from = report?.from.slice(0, 10), to } = period;
  const csv = withQuery("/console/api/usage", { group_by: id, from, to, format: "csv" });
  return (
    <form class="filters" method="get" action={USAGE_PATH}>
      <input type="hidden" name="by" value={id} />
      <Field name="from" label="From (UTC)" type="date" value={from} />
      <Field name="to" label="Before (UTC)" type="date" value={to} />
      <button type="submit" class="button">Apply</button>
      <a class="button push" href={csv} download="usage.csv">Download CSV</a>
    </form>
  );
}

/** What tables of usage are written with. */
interface Shown {
  readonly group: Group;
  readonly currency: MoneyFormat;
  /** Whether the reader has a page of a model. */
  readonly hasPage: (model: string) => boolean;
}

function Usage({ report, ...shown }: Shown & { report: Report }) {
  const { data, totals, archived_before } = report;
  return (
    <>
      {archived_before !== null && (
        <p class="soft small">
          Months before <Time at={archived_before} as="date" /> are archived. The statement on the
          {" "}
          <a href="/console/billing">billing page</a> has their totals.
        </p>
      )}
      {data.length === 0
        ? (
          <section class="card">
            <Empty title="No usage in this period">
              <p>Requests appear here when they have ended.</p>
            </Empty>
          </section>
        )
        : (
          <>
            <Totals totals={totals} currency={shown.currency} />
            <UsageTable rows={data} {...shown} />
          </>
        )}
    </>
  );
}

function Totals({ totals, currency }: { totals: Sums; currency: MoneyFormat }) {
  const paid = paymentText(totals, currency);
  return (
    <section class="card" aria-label="Totals">
      <dl class="balance-parts">
        <div class="figure">
          <dt>Charged</dt>
          <dd>
            <Money amount={totals.charged} currency={currency} />
          </dd>
          {paid !== "" && <dd class="figure-note">{paid}</dd>}
        </div>
        <div class="figure">
          <dt>Requests</dt>
          <dd>{formatCount(totals.requests)}</dd>
          <dd class="figure-note">{formatCount(totals.failed)} failed</dd>
        </div>
      </dl>
    </section>
  );
}

/** What was not paid with cash. */
function paymentText({ gift, quota }: Sums, currency: MoneyFormat): string {
  return [
    ...isZero(gift) ? [] : [`${formatMoney(gift, currency)} from credit`],
    ...quota === 0 ? [] : [`${plural(quota, "unit")} from quotas`],
  ].join(", ");
}

function UsageTable({ rows, group, currency, hasPage }: Shown & { rows: readonly Sums[] }) {
  const [id, name] = group;
  return (
    <TableCard
      title={`By ${name === "API key" ? name : name.toLowerCase()}`}
      columns={[name, ["Requests", "right"], ["Failed", "right"], "Used", ["Charged", "right"]]}
    >
      {inOrder(id, rows).map((row) => (
        <tr>
          <td data-label={name}>
            <GroupName group={id} row={row} hasPage={hasPage} />
          </td>
          <td data-label="Requests" class="right">{formatCount(row.requests)}</td>
          <td data-label="Failed" class="right">{formatCount(row.failed)}</td>
          <td data-label="Used" class="soft">
            {quantityTexts(quantitiesOf(row)).join(", ") || "—"}
          </td>
          <td data-label="Charged" class="right">
            <Money amount={row.charged} currency={currency} />
          </td>
        </tr>
      ))}
    </TableCard>
  );
}

function GroupName(
  { group, row, hasPage }: Pick<Shown, "hasPage"> & { group: Group[0]; row: Sums },
) {
  switch (group) {
    case "day":
      return <span class="strong nowrap">{formatDate(row.day!)}</span>;
    case "model": {
      const id = row.model ?? "None";
      return hasPage(id)
        ? <a class="strong" href={`/console/models/${encodeURIComponent(id)}`}>{id}</a>
        : <span class="strong">{id}</span>;
    }
    case "key":
      // A request without a key was made in the console.
      if (!row.key) return <span class="strong">Console</span>;
      return <a class="strong" href={`/console/keys/${row.key}`}>{row.key_name ?? row.key}</a>;
  }
}

function quantitiesOf(row: Sums): Record<string, number | string> {
  return Object.fromEntries(
    REPORTED_QUANTITIES.map((name) => [name, z.union([z.number(), z.string()]).parse(row[name])]),
  );
}

/** Days newest first; others by what they cost. */
function inOrder(group: Group[0], rows: readonly Sums[]): Sums[] {
  if (group === "day") return rows.toSorted((a, b) => a.day! < b.day! ? 1 : -1);
  return rows.toSorted((a, b) => {
    const [first, second] = [decimal(a.charged), decimal(b.charged)];
    return first === second ? b.requests - a.requests : first < second ? 1 : -1;
  });
}
