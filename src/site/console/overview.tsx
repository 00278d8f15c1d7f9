import { listKeys } from "../../domain/accounts/api_keys.ts";
import { type Balance, readBalance } from "../../domain/ledger/balance.ts";
import type { Receipt } from "../../domain/ledger/receipt.ts";
import { listUsage } from "../../domain/ledger/statement.ts";
import { usageChart } from "../../domain/ledger/usage_days.ts";
import { listTasks } from "../../workflows/tasks/find_task.ts";
import type { SiteContext } from "../context.ts";
import { formatCount, formatCountShort, isZero, type MoneyFormat, plural } from "../format.ts";
import { Money } from "../money.tsx";
import { Badge, CodeBox } from "../parts.tsx";
import { Time } from "../time.tsx";
import { pricedAccountOf } from "./account.ts";
import { BalanceCard } from "./balance.tsx";
import { BarChart, SpendChart } from "./chart.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { firstRequest } from "./first_request.ts";
import { Charged, ReceiptStatus } from "./receipt_status.tsx";
import { ChoiceLinks, Head, sendConsole, TableCard } from "./shell.tsx";
import { TaskTable } from "./tasks.tsx";
import { dayAgo, figuresOf, PERIODS, readPeriodDays, type UsageFigures } from "./usage_figures.ts";

/** GET /console: balance, usage and the latest requests; for a new account, how to get started. */
export function overviewPage({ database }: ConsoleDeps) {
  return async function overviewPage(c: SiteContext): Promise<Response> {
    const { sql } = database;
    const { service } = c.env.config;
    const span = readPeriodDays(c.req.query("days"));
    const account = await pricedAccountOf(c, { database });
    const [balance, rows, recent, tasks, keys] = await Promise.all([
      readBalance(sql, account.id, service.currency),
      usageChart(sql, account.id, dayAgo(span - 1)),
      listUsage(sql, { account: account.id, limit: 8, order: "desc" }, service.currency),
      listTasks(sql, { account: account.id, limit: 5, order: "desc" }),
      listKeys(sql, account.id),
    ]);
    const isNew = recent.data.length === 0;
    const hasKey = keys.some(({ revoked }) => revoked === null);
    return sendConsole(
      c,
      { section: "overview", title: "Overview", scripts: ["chart"] },
      <>
        <Head title="Overview">
          {!isNew && (
            <ChoiceLinks
              label="Period"
              name="days"
              options={PERIODS}
              value={String(span)}
              path="/console"
              query={{}}
            />
          )}
        </Head>
        <BalanceCard balance={balance} config={c.env.config} />
        {isNew
          ? (
            <GetStarted
              c={c}
              hasKey={hasKey}
              balance={balance}
              example={firstRequest(c, account)}
            />
          )
          : <Charts figures={figuresOf(rows, span)} span={span} currency={service} />}
        {tasks.rows.length > 0 && (
          <TaskTable
            title="Recent tasks"
            head={<a href="/console/tasks">View all</a>}
            tasks={tasks.rows}
            currency={service}
          />
        )}
        {!isNew && <RecentRequests receipts={recent.data} currency={service} />}
      </>,
    );
  };
}

function Charts(
  { figures, span, currency }: { figures: UsageFigures; span: number; currency: MoneyFormat },
) {
  const { totals, models, spend, calls } = figures;
  return (
    <div class="grid chart-pair">
      <section class="card stack">
        <div class="figure">
          <h2 class="figure-name">Spend, last {span} days</h2>
          <div class="figure-value">
            <Money amount={totals.charged} currency={currency} />
          </div>
        </div>
        <SpendChart id="spend" title="Spend" series={models} days={spend} currency={currency} />
      </section>
      <section class="card stack">
        <div class="figure">
          <h2 class="figure-name">Requests, last {span} days</h2>
          <div class="figure-value">
            {formatCount(totals.calls)}{" "}
            <span class="figure-note">
              {formatCount(totals.failed)} failed
              {totals.tokens > 0 && `, ${formatCountShort(totals.tokens)} tokens`}
            </span>
          </div>
        </div>
        <BarChart
          id="requests"
          title="Requests"
          series={["Requests"]}
          days={calls}
          format={(value) => plural(Number(value), "request")}
          formatAxis={(value) => formatCountShort(Number(value))}
          axisMin="4"
        />
      </section>
    </div>
  );
}

function GetStarted(
  { c, hasKey, balance, example }: {
    c: SiteContext;
    hasKey: boolean;
    balance: Balance;
    example: { curl: string; model: string } | null;
  },
) {
  const isEmpty = isZero(balance.available_balance) &&
    Object.values(balance.quotas).every((left) => left === 0);
  const { supportUrl } = c.env.config.service;
  return (
    <section class="card stack-l first-steps">
      <div>
        <h2>Get started</h2>
        <p class="soft">Usage charts appear here after your first request.</p>
      </div>
      <ol class="steps">
        <li>
          <h3>Create an API key {hasKey && <Badge kind="good">Done</Badge>}</h3>
          <p class="soft">Keep it on a server, never in a web page or an app.</p>
          <p>
            <a class={`button ${hasKey ? "" : "button-primary"}`} href="/console/keys">
              {hasKey ? "View API keys" : "Create API key"}
            </a>
          </p>
        </li>
        <li>
          <h3>Add credit {!isEmpty && <Badge kind="good">Done</Badge>}</h3>
          {isEmpty
            ? (
              <p class="soft">
                Your balance is empty. Requests fail with status 402 until credit is added.{" "}
                {supportUrl === null
                  ? "Contact the operator of this service."
                  : <a href={supportUrl}>Contact support</a>}
              </p>
            )
            : (
              <p class="soft">
                You have{" "}
                <Money amount={balance.available_balance} currency={c.env.config.service} />{" "}
                in credit.
              </p>
            )}
        </li>
        <li>
          <h3>Send your first request</h3>
          {example === null
            ? <p class="soft">No chat model is available for your account yet.</p>
            : (
              <>
                <CodeBox id="first-request" text={example.curl} />
                <p class="soft">
                  Or without code:{" "}
                  <a href={`/console/models/${example.model}`}>try {example.model}</a>. Or from your
                  own tools: <a href="/docs/connect">connect a client</a>.
                </p>
              </>
            )}
        </li>
      </ol>
    </section>
  );
}

function RecentRequests(
  { receipts, currency }: { receipts: readonly Receipt[]; currency: MoneyFormat },
) {
  return (
    <TableCard
      title="Recent requests"
      head={<a href="/console/billing">View all</a>}
      columns={["Request", "Model", "Time", "Status", ["Charged", "right"]]}
    >
      {receipts.map((receipt) => (
        <tr>
          <td data-label="Request">
            <a class="mono" href={`/console/billing/receipts/${receipt.id}`}>{receipt.id}</a>
          </td>
          <td data-label="Model">{receipt.model}</td>
          <td data-label="Time">
            <Time at={receipt.created} as="relative" />
          </td>
          <td data-label="Status">
            <ReceiptStatus status={receipt.status} />
          </td>
          <td data-label="Charged" class="right">
            {receipt.status === "open" ? "—" : <Charged receipt={receipt} currency={currency} />}
          </td>
        </tr>
      ))}
    </TableCard>
  );
}
