import type { Child } from "hono/jsx";
import { archivedBefore } from "../../domain/ledger/archived.ts";
import { readBalance } from "../../domain/ledger/balance.ts";
import { exportCsv } from "../../domain/ledger/export_csv.ts";
import {
  type CreditGrant,
  listCreditGrants,
  listMovements,
  type Movement,
} from "../../domain/ledger/movements.ts";
import type { AccountPlan } from "../../platform/config/config.ts";
import { personOf, type SiteContext } from "../context.ts";
import { formatBytes, formatCount, formatMoney, type MoneyFormat, plural } from "../format.ts";
import { Money } from "../money.tsx";
import { Empty, Field } from "../parts.tsx";
import { Time } from "../time.tsx";
import { pricedAccountOf } from "./account.ts";
import { BalanceCard } from "./balance.tsx";
import { readDays } from "./days.ts";
import type { ConsoleDeps } from "./deps.ts";
import { Head, Pager, sendConsole, TableCard, withQuery } from "./shell.tsx";

const PATH = "/console/billing";
const PAGE = 25;

/** GET /console/billing: the balance, the plan, and every movement. */
export function billingPage({ database }: ConsoleDeps) {
  return async function billingPage(c: SiteContext): Promise<Response> {
    const { sql } = database;
    const { service, plans } = c.env.config;
    const { after } = c.req.query();
    const period = readDays(c);
    const account = await pricedAccountOf(c, { database });
    const [balance, grants, { data, hasMore }, archived] = await Promise.all([
      readBalance(sql, account.id, service.currency),
      listCreditGrants(sql, account.id),
      listMovements(sql, { account: account.id, limit: PAGE, after, ...period.span }),
      archivedBefore(sql),
    ]);
    const query = { from: period.from, to: period.to, after };
    return sendConsole(
      c,
      { section: "billing", title: "Billing" },
      <>
        <Head title="Billing" />
        <BalanceCard balance={balance} config={c.env.config} />
        <div class="grid billing-grid">
          <PlanCard plan={plans.get(account.plan)!} expiresAt={balance.plan.expires_at} />
          <GrantsCard grants={grants} currency={service} />
        </div>
        <form class="filters" method="get" action={PATH}>
          <Field name="from" label="From (UTC)" type="date" value={period.from} />
          <Field name="to" label="Before (UTC)" type="date" value={period.to} />
          <button type="submit" class="button">Apply</button>
          <a
            class="button push"
            href={withQuery(`${PATH}/statement.csv`, { from: period.from, to: period.to })}
            download="statement.csv"
          >
            Download CSV
          </a>
        </form>
        {archived !== null && (
          <p class="soft small">
            Transactions before <Time at={archived} as="date" />{" "}
            are archived. The CSV has their monthly totals.
          </p>
        )}
        {data.length === 0
          ? (
            <section class="card">
              <Empty title="No transactions in this period">
                <p>Credits, quotas and charges are listed here.</p>
              </Empty>
            </section>
          )
          : (
            <MovementTable
              title="Transactions"
              movements={data}
              currency={service}
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
    const { span } = readDays(c);
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

function PlanCard({ plan, expiresAt }: { plan: AccountPlan; expiresAt: string | null }) {
  const { rates } = plan;
  return (
    <section class="card stack-s">
      <h2 class="card-title">Plan: {plan.name}</h2>
      {plan.description !== null && <p class="soft">{plan.description}</p>}
      <dl class="facts facts-tight">
        <dt>Ends</dt>
        <dd>{expiresAt === null ? "Never" : <Time at={expiresAt} />}</dd>
        <dt>Requests per minute</dt>
        <dd class="numeric">{formatCount(rates.requestsPerMinute)} per key</dd>
        <dt>Tokens per minute</dt>
        <dd class="numeric">{formatCount(rates.tokensPerMinute)} per key</dd>
        <dt>Concurrent tasks</dt>
        <dd class="numeric">{formatCount(rates.runningTasks)}</dd>
        <dt>Upload storage</dt>
        <dd class="numeric">{formatBytes(rates.storageBytes)}</dd>
      </dl>
    </section>
  );
}

function GrantsCard(
  { grants, currency }: { grants: readonly CreditGrant[]; currency: MoneyFormat },
) {
  return (
    <section class="card stack-s">
      <h2 class="card-title">Credits and quotas</h2>
      {grants.length === 0 ? <p class="soft">None. Requests are paid from cash.</p> : (
        <>
          <p class="soft small">Used before cash. Whatever expires first is used first.</p>
          <ul class="plain-list">
            {grants.map((grant) => <GrantLine grant={grant} currency={currency} />)}
          </ul>
        </>
      )}
    </section>
  );
}

const UNITS: Readonly<Record<Exclude<Movement["unit"], "money">, string>> = {
  text: "token",
  image: "image",
  video: "second",
};

/** `$1.00`, `500 tokens`, `-1 image` */
function amountText(amount: string, unit: Movement["unit"], currency: MoneyFormat): string {
  return unit === "money" ? formatMoney(amount, currency) : plural(BigInt(amount), UNITS[unit]);
}

function GrantLine({ grant, currency }: { grant: CreditGrant; currency: MoneyFormat }) {
  const granted = amountText(grant.granted, grant.unit, currency);
  const remaining = grant.unit === "money"
    ? formatMoney(grant.remaining, currency)
    : formatCount(BigInt(grant.remaining));
  return (
    <li class="meter">
      <div class="row-between">
        <span>
          <span class="strong money">{remaining}</span> <span class="faint">of {granted}</span>
        </span>
        <span class="small faint">
          {grant.source === "gift" ? "Promotional credit" : "Quota"},{" "}
          {grant.ends_at === null ? "no expiry" : (
            <>
              expires <Time at={grant.ends_at} as="date" />
            </>
          )}
        </span>
      </div>
      <progress
        class="progress"
        max={grant.granted}
        value={grant.remaining}
        aria-label={`${remaining} of ${granted} left`}
      />
    </li>
  );
}

const KINDS: Readonly<Record<Exclude<Movement["kind"], "capture">, string>> = {
  credit: "Credit added",
  grant: "Plan quota",
  breakage: "Expired",
  adjustment: "Adjustment",
};
const SOURCES: Readonly<Record<Movement["source"], string>> = {
  cash: "Cash",
  gift: "Credit",
  quota: "Quota",
};

export function MovementTable(
  { title, movements, currency, foot, hasReceipts = false }: {
    title: string;
    movements: readonly Movement[];
    currency: MoneyFormat;
    foot?: Child;
    /** Whether the reader has access to the receipts. */
    hasReceipts?: boolean;
  },
) {
  return (
    <TableCard
      title={title}
      columns={["Time", "Description", "Balance", ["Amount", "right"]]}
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
    currency: MoneyFormat;
    hasReceipts: boolean;
  },
) {
  const { at, kind, unit, amount, source, request_id, model, reference, reason } = movement;
  const text = kind === "capture" ? `Request to ${model ?? "a model"}` : KINDS[kind];
  const isIn = !amount.startsWith("-");
  const detail = reason ?? reference;
  return (
    <tr>
      <td data-label="Time">
        <Time at={at} as="relative" />
      </td>
      <td data-label="Description">
        <span>
          {request_id !== null && hasReceipts
            ? <a href={`${PATH}/receipts/${request_id}`}>{text}</a>
            : text}
          {detail !== null && <span class="faint">, {detail}</span>}
        </span>
      </td>
      <td data-label="Balance">{SOURCES[source]}</td>
      <td data-label="Amount" class={`right ${isIn ? "amount-in" : "amount-out"}`}>
        {unit === "money"
          ? <Money amount={amount} currency={currency} sign />
          : (
            <span class="nowrap">
              {isIn && "+"}
              {amountText(amount, unit, currency)}
            </span>
          )}
      </td>
    </tr>
  );
}
