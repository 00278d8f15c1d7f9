import type { Child } from "hono/jsx";
import { ApiError } from "../../lib/api_error.ts";
import { readBalance } from "../../domain/ledger/balance.ts";
import { exportCsv } from "../../domain/ledger/export_csv.ts";
import {
  type CreditGrant,
  listCreditGrants,
  listMovements,
  type Movement,
} from "../../domain/ledger/movements.ts";
import { personOf, type SiteContext } from "../context.ts";
import { Empty, Field } from "../parts.tsx";
import { pricedAccountOf } from "./account.ts";
import type { ConsoleDeps } from "./deps.ts";
import { ago, bytes, date, formatCount, moment, money } from "./format.ts";
import { BalanceFigures } from "./overview.tsx";
import { Head, Pager, sendConsole, TableCard, withQuery } from "./shell.tsx";

const PATH = "/console/billing";
const PAGE = 25;

/** GET /console/billing: what there is, where it came from and where it went. */
export function billingPage({ database }: ConsoleDeps) {
  return async function billingPage(c: SiteContext): Promise<Response> {
    const { sql } = database;
    const { service, plans } = c.env.config;
    const { after } = c.req.query();
    const period = readPeriod(c);
    const account = await pricedAccountOf(c, { database });
    const [now, lots, { data, hasMore }] = await Promise.all([
      readBalance(sql, account.id, service.currency),
      listCreditGrants(sql, account.id),
      listMovements(sql, { account: account.id, limit: PAGE, after, ...period.span }),
    ]);
    const plan = plans.get(account.plan)!;
    const query = { from: period.from, to: period.to, after };
    return sendConsole(
      c,
      { section: "billing", title: "Billing" },
      <>
        <Head title="Billing" />
        <BalanceFigures balance={now} />
        <div class="grid billing-grid">
          <section class="card stack-s">
            <h2 class="card-title">Plan: {plan.name}</h2>
            {plan.description !== null && <p class="soft">{plan.description}</p>}
            <dl class="facts facts-tight">
              <dt>Renews or ends</dt>
              <dd>{now.plan.expires_at === null ? "has no end" : moment(now.plan.expires_at)}</dd>
              <dt>Requests a minute</dt>
              <dd class="numeric">{formatCount(plan.rates.requestsPerMinute)} per key</dd>
              <dt>Tokens a minute</dt>
              <dd class="numeric">{formatCount(plan.rates.tokensPerMinute)} per key</dd>
              <dt>Tasks at once</dt>
              <dd class="numeric">{formatCount(plan.rates.runningTasks)}</dd>
              <dt>Room for uploads</dt>
              <dd class="numeric">{bytes(plan.rates.storageBytes)}</dd>
            </dl>
          </section>
          <section class="card stack-s">
            <h2 class="card-title">Gifts and quotas</h2>
            {lots.length === 0 ? <p class="soft">None. Calls are paid from cash.</p> : (
              <>
                <p class="soft small">Used before cash, the one that ends first before others.</p>
                <ul class="plain-list">
                  {lots.map((lot) => <LotLine lot={lot} currency={service.currency} />)}
                </ul>
              </>
            )}
          </section>
        </div>
        <form class="filters" method="get" action={PATH}>
          <Field name="from" label="From" type="date" value={period.from} />
          <Field name="to" label="To, not included" type="date" value={period.to} />
          <button type="submit" class="button">Show</button>
          <a
            class="button push"
            href={withQuery(`${PATH}/statement.csv`, { from: period.from, to: period.to })}
            download="statement.csv"
          >
            Download CSV
          </a>
        </form>
        {data.length === 0
          ? (
            <section class="card">
              <Empty title="No movement in this time">
                <p>Credits, quotas and what calls cost are listed here, to the last digit.</p>
              </Empty>
            </section>
          )
          : (
            <MovementTable
              title="Statement"
              movements={data}
              currency={service.currency}
              hasReceipts
              foot={<Pager path={PATH} query={query} lastId={data.at(-1)?.id} hasMore={hasMore} />}
            />
          )}
      </>,
    );
  };
}

/** GET /console/billing/statement.csv */
export function statementCsv({ database }: ConsoleDeps) {
  return function statementCsv(c: SiteContext): Response {
    const { span } = readPeriod(c);
    const lines = exportCsv(database.sql, { account: personOf(c).account, ...span });
    return new Response(ReadableStream.from(lines).pipeThrough(new TextEncoderStream()), {
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": 'attachment; filename="statement.csv"',
        "cache-control": "private, no-store",
        "x-content-type-options": "nosniff",
      },
    });
  };
}

const KINDS: Readonly<Record<Movement["unit"], string>> = {
  money: "credit",
  text: "token",
  image: "picture",
  video: "second",
};

function LotLine({ lot, currency }: { lot: CreditGrant; currency: string }) {
  const isMoney = lot.unit === "money";
  const amount = (value: string) => isMoney ? money(value, currency) : formatCount(BigInt(value));
  const unit = isMoney ? "" : ` ${KINDS[lot.unit]}s`;
  return (
    <li class="meter">
      <div class="row-between">
        <span class="strong numeric">
          {amount(lot.remaining)} <span class="faint">of {amount(lot.granted)}{unit}</span>
        </span>
        <span class="small faint">
          {lot.source === "gift" ? "gift" : "quota"}, {lot.ends_at === null
            ? "no end"
            : (
              <time datetime={lot.ends_at.toISOString()} title={moment(lot.ends_at)}>
                until {date(lot.ends_at)}
              </time>
            )}
        </span>
      </div>
      <progress
        class="progress"
        max={lot.granted}
        value={lot.remaining}
        aria-label={`${amount(lot.remaining)} left of ${amount(lot.granted)}${unit}`}
      />
    </li>
  );
}

const NAMES: Readonly<Record<Movement["kind"], string>> = {
  credit: "Credit",
  grant: "Quota of the plan",
  capture: "Call",
  breakage: "Lapsed",
  adjustment: "Correction",
};

export function MovementTable(
  { title, movements, currency, foot, hasReceipts = false }: {
    title: string;
    movements: readonly Movement[];
    currency: string;
    foot?: Child;
    /** Whether the reader's own pages have the receipts. */
    hasReceipts?: boolean;
  },
) {
  return (
    <TableCard
      title={title}
      columns={["When", "What", "Paid from", ["Amount", "right"]]}
      foot={foot}
    >
      {movements.map((movement) => (
        <MovementRow movement={movement} currency={currency} hasReceipts={hasReceipts} />
      ))}
    </TableCard>
  );
}

function MovementRow(
  { movement, currency, hasReceipts }: {
    movement: Movement;
    currency: string;
    hasReceipts: boolean;
  },
) {
  const { at, kind, unit, amount, source, request_id, model, reference, reason } = movement;
  const what = kind === "capture" ? `Call of ${model ?? "a model"}` : NAMES[kind];
  const isIn = !amount.startsWith("-");
  const written = unit === "money"
    ? money(amount, currency)
    : `${formatCount(BigInt(amount))} ${KINDS[unit]}s`;
  return (
    <tr>
      <td data-label="When" class="nowrap">
        <time datetime={at.toISOString()} title={moment(at)}>{ago(at)}</time>
      </td>
      <td data-label="What">
        <span>
          {request_id !== null && hasReceipts
            ? <a href={`${PATH}/receipts/${request_id}`}>{what}</a>
            : what}
          {(reason ?? reference) !== null && <span class="faint">, {reason ?? reference}</span>}
        </span>
      </td>
      <td data-label="Paid from">
        {kind === "credit" || kind === "grant" ? `to ${source}` : source}
      </td>
      <td data-label="Amount" class={`right ${isIn ? "amount-in" : "amount-out"}`}>
        {isIn ? `+${written}` : written}
      </td>
    </tr>
  );
}

interface ReadPeriod {
  from: string | undefined;
  to: string | undefined;
  span: { from?: Date; to?: Date };
}

/** Days as date inputs send them; in UTC. */
function readPeriod(c: SiteContext): ReadPeriod {
  const [from, to] = ["from", "to"].map((name) => {
    const day = c.req.query(name);
    if (day === undefined || day === "") return undefined;
    if (!/^(?!0000)\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day))) {
      throw new ApiError("invalid_value", `${name} must be a day such as 2026-01-31.`);
    }
    return day;
  });
  const moment = (day: string | undefined) => day === undefined ? undefined : new Date(day);
  return { from, to, span: { from: moment(from), to: moment(to) } };
}
