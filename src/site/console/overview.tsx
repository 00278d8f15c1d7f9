import { listKeys } from "../../domain/accounts/api_keys.ts";
import { type Balance, readBalance } from "../../domain/ledger/balance.ts";
import type { Receipt } from "../../domain/ledger/receipt.ts";
import { listUsage } from "../../domain/ledger/statement.ts";
import { usageChart } from "../../domain/ledger/usage_days.ts";
import { listTasks } from "../../workflows/tasks/find_task.ts";
import type { SiteContext } from "../context.ts";
import { Badge, CodeBox } from "../parts.tsx";
import { pricedAccountOf } from "./account.ts";
import { BarChart } from "./chart.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { firstCall } from "./first_call.ts";
import { ago, countShort, formatCount, moment, money, moneyShort, plural } from "./format.ts";
import { Charged, ReceiptState } from "./receipt_text.tsx";
import { ChoiceLinks, Head, sendConsole, TableCard } from "./shell.tsx";
import { TaskTable } from "./tasks.tsx";
import { dayAgo, figuresOf, type UsageFigures } from "./usage_figures.ts";

const SPANS = [["7", "7 days"], ["30", "30 days"], ["90", "90 days"]] as const;

/** GET /console: what there is to spend, what was spent, and what to do first. */
export function overview({ database }: ConsoleDeps) {
  return async function overview(c: SiteContext): Promise<Response> {
    const { sql } = database;
    const { currency } = c.env.config.service;
    const asked = c.req.query("days");
    const days = SPANS.some(([value]) => value === asked) ? asked! : "30";
    const span = Number(days);
    const account = await pricedAccountOf(c, { database });
    const [now, rows, recent, tasks, keys] = await Promise.all([
      readBalance(sql, account.id, currency),
      usageChart(sql, account.id, dayAgo(span - 1)),
      listUsage(sql, { account: account.id, limit: 8, order: "desc" }, currency),
      listTasks(sql, { account: account.id, limit: 5, order: "desc" }),
      listKeys(sql, account.id),
    ]);
    const figures = figuresOf(rows, span);
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
              options={SPANS}
              value={days}
              path="/console"
              query={{}}
            />
          )}
        </Head>
        <BalanceFigures balance={now} />
        {isNew
          ? <FirstSteps c={c} hasKey={hasKey} balance={now} model={firstCall(c, account)} />
          : <Charts figures={figures} span={span} currency={currency} />}
        {tasks.rows.length > 0 && (
          <TaskTable
            title="Latest tasks"
            head={<a href="/console/tasks">All of them</a>}
            tasks={tasks.rows}
            currency={currency}
          />
        )}
        {!isNew && <Recent receipts={recent.data} currency={currency} />}
      </>,
    );
  };
}

export function BalanceFigures({ balance }: { balance: Balance }) {
  const { currency, quotas } = balance;
  const parts: [name: string, value: string, note: string][] = [
    ["Cash", money(balance.cash_balance, currency), "with what is on hold"],
    ["Gift credit", money(balance.gift_balance, currency), "used before cash"],
    ["On hold", money(balance.frozen_balance, currency), "for what runs now"],
  ];
  const kinds: [string, number, string][] = [
    ["Text", quotas.text, "tokens left"],
    ["Picture", quotas.image, "pictures left"],
    ["Video", quotas.video, "seconds left"],
  ];
  const granted = kinds.filter(([, left]) => left > 0);
  return (
    <section class="card balance" aria-label="Balance">
      <div class="figure balance-main">
        <div class="figure-name">Available</div>
        <div class="balance-sum">{money(balance.available_balance, currency)}</div>
        <div class="figure-note">
          Plan {balance.plan.name}
          {balance.plan.expires_at !== null && `, until ${moment(balance.plan.expires_at)}`}
        </div>
      </div>
      <dl class="balance-parts">
        {parts.map(([name, value, note]) => (
          <div class="figure">
            <dt>{name}</dt>
            <dd>{value}</dd>
            <dd class="figure-note">{note}</dd>
          </div>
        ))}
        {granted.map(([name, left, unit]) => (
          <div class="figure">
            <dt>{name} quota</dt>
            <dd title={formatCount(left)}>{countShort(left)}</dd>
            <dd class="figure-note">{unit}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Charts(
  { figures, span, currency }: { figures: UsageFigures; span: number; currency: string },
) {
  const { totals, models, spend, calls } = figures;
  const failures = totals.failed === 0 ? "none failed" : `${formatCount(totals.failed)} failed`;
  return (
    <div class="grid chart-pair">
      <section class="card stack">
        <div class="figure">
          <h2 class="figure-name">Spend, last {span} days</h2>
          <div class="figure-value">{money(totals.charged, currency)}</div>
        </div>
        <BarChart
          id="spend"
          title="Spend"
          series={models.length === 0 ? ["Spend"] : models}
          days={spend}
          show={(value) => money(value, currency)}
          showShort={(value) => axisMoney(value, currency)}
          least="0.000001"
        />
      </section>
      <section class="card stack">
        <div class="figure">
          <h2 class="figure-name">Calls, last {span} days</h2>
          <div class="figure-value">
            {formatCount(totals.calls)}{" "}
            <span class="figure-note">
              {failures}
              {totals.tokens > 0 && `, ${countShort(totals.tokens)} tokens`}
            </span>
          </div>
        </div>
        <BarChart
          id="calls"
          title="Calls"
          series={["Calls"]}
          days={calls}
          show={(value) => plural(Number(value), "call")}
          showShort={(value) => countShort(Number(value))}
          least="4"
        />
      </section>
    </div>
  );
}

/** On the axis a small amount needs its digits. */
export function axisMoney(value: string, currency: string): string {
  return /^0\.0*[1-9]/.test(value) ? money(value, currency) : moneyShort(value, currency);
}

function FirstSteps(
  { c, hasKey, balance, model }: {
    c: SiteContext;
    hasKey: boolean;
    balance: Balance;
    model: { curl: string; model: string } | null;
  },
) {
  const isBroke = /^0(\.0*)?$/.test(balance.available_balance) &&
    Object.values(balance.quotas).every((left) => left === 0);
  const { supportUrl } = c.env.config.service;
  return (
    <section class="card stack-l first-steps">
      <div>
        <h2>Three steps to the first answer</h2>
        <p class="soft">Charts of what you use appear here with the first call.</p>
      </div>
      <ol class="steps">
        <li>
          <h3>Create an API key {hasKey && <Badge kind="good">done</Badge>}</h3>
          <p class="soft">It is shown once. Keep it on a server, never in a page or an app.</p>
          <p>
            <a class={`button ${hasKey ? "" : "button-primary"}`} href="/console/keys">
              {hasKey ? "See your keys" : "Create a key"}
            </a>
          </p>
        </li>
        <li>
          <h3>Have something to spend {!isBroke && <Badge kind="good">done</Badge>}</h3>
          {isBroke
            ? (
              <p class="soft">
                The balance is empty: calls are answered with 402 until credit is booked.{" "}
                {supportUrl === null
                  ? "Ask whoever runs this gateway."
                  : <a href={supportUrl}>Ask for credit</a>}
              </p>
            )
            : <p class="soft">{money(balance.available_balance, balance.currency)} is there.</p>}
        </li>
        <li>
          <h3>Make the first call</h3>
          {model === null ? <p class="soft">No chat model is offered to this account yet.</p> : (
            <>
              <CodeBox id="first-call" text={model.curl} />
              <p class="soft">
                Or without a line of code:{" "}
                <a href={`/console/models/${model.model}`}>try {model.model} here</a>.
              </p>
            </>
          )}
        </li>
      </ol>
    </section>
  );
}

function Recent({ receipts, currency }: { receipts: readonly Receipt[]; currency: string }) {
  return (
    <TableCard
      title="Latest calls"
      head={<a href="/console/billing">All of them</a>}
      columns={["Request", "Model", "When", "State", ["Charged", "right"]]}
    >
      {receipts.map((receipt) => (
        <tr>
          <td data-label="Request">
            <a class="mono" href={`/console/billing/receipts/${receipt.id}`}>{receipt.id}</a>
          </td>
          <td data-label="Model">{receipt.model}</td>
          <td data-label="When">
            <time datetime={new Date(receipt.created * 1000).toISOString()}>
              {ago(receipt.created)}
            </time>
          </td>
          <td data-label="State">
            <ReceiptState status={receipt.status} />
          </td>
          <td data-label="Charged" class="right">
            <Charged receipt={receipt} currency={currency} />
          </td>
        </tr>
      ))}
    </TableCard>
  );
}
