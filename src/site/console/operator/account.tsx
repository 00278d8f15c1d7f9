import { findAccount } from "../../../domain/accounts/accounts.ts";
import { listKeys, revokeKey } from "../../../domain/accounts/api_keys.ts";
import { ApiError } from "../../../lib/api_error.ts";
import type { Config } from "../../../platform/config/config.ts";
import { readBalance } from "../../../domain/ledger/balance.ts";
import { addCredit } from "../../../domain/ledger/credit.ts";
import { listMovements } from "../../../domain/ledger/movements.ts";
import { setPlan } from "../../../domain/ledger/plans.ts";
import { usageChart } from "../../../domain/ledger/usage_days.ts";
import type { SiteContext } from "../../context.ts";
import { readSiteForm } from "../../form.ts";
import { Badge, Field, Form, Notice, Select } from "../../parts.tsx";
import { seeOtherWith } from "../../respond.ts";
import { MovementTable } from "../billing.tsx";
import { BarChart } from "../chart.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { ago, date, formatCount, money } from "../format.ts";
import { axisMoney, BalanceFigures } from "../overview.tsx";
import { Head, sendConsole, TableCard } from "../shell.tsx";
import { dayAgo, figuresOf } from "../usage_figures.ts";
import { ACCOUNTS } from "./accounts.tsx";
import { apiErrorText } from "./error_text.ts";

const SPAN = 30;

/** GET /console/operator/accounts/{id} */
export function operatorAccountPage(deps: ConsoleDeps) {
  return (c: SiteContext) => sendAccount(deps, c);
}

/** POST /console/operator/accounts/{id}/credits: the same reference books once. */
export function creditAccount(deps: ConsoleDeps) {
  return async function creditAccount(c: SiteContext): Promise<Response> {
    const account = c.req.param("id") ?? "";
    const form = await readSiteForm(c);
    const reference = (form.reference ?? "").trim();
    if (reference === "" || reference.length > 200) {
      return await sendAccount(deps, c, {
        credit: "A reference has 1 to 200 characters: an invoice's number, say.",
        form,
      });
    }
    try {
      const kind = form.kind === "gift" ? "gift" : "cash";
      const amount = (form.amount ?? "").trim();
      const expiresAt = readDay(form.expires_at);
      const { isFirst } = await addCredit(deps.database.sql, {
        account,
        kind,
        amount,
        reference,
        expiresAt,
      });
      const what = money(amount, c.env.config.service.currency);
      return seeOtherWith(
        c,
        `${ACCOUNTS}/${account}`,
        isFirst ? "good" : "info",
        isFirst
          ? `${what} of ${kind} booked under ${reference}.`
          : `${reference} was booked before: nothing is booked twice.`,
      );
    } catch (error) {
      return await sendAccount(deps, c, { credit: apiErrorText(error), form });
    }
  };
}

/** POST /console/operator/accounts/{id}/plan */
export function planAccount(deps: ConsoleDeps) {
  return async function planAccount(c: SiteContext): Promise<Response> {
    const account = c.req.param("id") ?? "";
    const { plan = "", ends_at } = await readSiteForm(c);
    if (!c.env.config.plans.has(plan)) {
      return await sendAccount(deps, c, { plan: "There is no such plan." });
    }
    try {
      const expiresAt = readDay(ends_at);
      await setPlan(deps.database, deps.cluster, { account, plan, expiresAt });
      return seeOtherWith(c, `${ACCOUNTS}/${account}`, "good", `The account is on ${plan}.`);
    } catch (error) {
      return await sendAccount(deps, c, { plan: apiErrorText(error) });
    }
  };
}

/** POST /console/operator/accounts/{id}/keys/{key}/revoke */
export function revokeAccountKey({ database, cluster }: ConsoleDeps) {
  return async function revokeAccountKey(c: SiteContext): Promise<Response> {
    const [account, id] = [c.req.param("id") ?? "", c.req.param("key") ?? ""];
    const key = (await listKeys(database.sql, account)).find((each) => each.id === id);
    if (key === undefined) throw new ApiError("not_found", "There is no such key.");
    await revokeKey(database, cluster, id);
    return seeOtherWith(c, `${ACCOUNTS}/${account}`, "good", `The key ${key.name} is revoked.`);
  };
}

function readDay(day: string | undefined): Date | undefined {
  if (day === undefined || day === "") return undefined;
  const read = new Date(`${day}T00:00:00Z`);
  if (!/^(?!0000)\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(read.getTime())) {
    throw new ApiError("invalid_value", "A day looks like 2027-01-31.", { param: "expires_at" });
  }
  return read;
}

interface Faults {
  credit?: string;
  plan?: string;
  form?: Record<string, string>;
}

async function sendAccount(
  { database }: ConsoleDeps,
  c: SiteContext,
  faults: Faults = {},
): Promise<Response> {
  const { sql } = database;
  const { service } = c.env.config;
  const account = await findAccount(sql, c.req.param("id") ?? "");
  const [now, rows, keys, movements] = await Promise.all([
    readBalance(sql, account.id, service.currency),
    usageChart(sql, account.id, dayAgo(SPAN - 1)),
    listKeys(sql, account.id),
    listMovements(sql, { account: account.id, limit: 10 }),
  ]);
  const { models, spend, totals } = figuresOf(rows, SPAN);
  const hasFault = faults.credit !== undefined || faults.plan !== undefined;
  return sendConsole(
    c,
    { section: "accounts", title: account.name, scripts: ["chart"], status: hasFault ? 400 : 200 },
    <>
      <nav class="crumbs" aria-label="You are here">
        <a href={ACCOUNTS}>Accounts</a>
      </nav>
      <Head
        title={account.name}
        note={
          <>
            <span class="mono">{account.id}</span>
            {account.email !== null && <>, {account.email}</>}, since {date(account.created)}
          </>
        }
      />
      <BalanceFigures balance={now} />
      <div class="grid billing-grid">
        <CreditForm c={c} account={account.id} faults={faults} />
        <PlanForm
          c={c}
          account={account.id}
          config={c.env.config}
          now={now.plan}
          fault={faults.plan}
        />
      </div>
      {totals.calls + totals.failed > 0 && (
        <section class="card stack">
          <div class="figure">
            <h2 class="figure-name">Spend, last {SPAN} days</h2>
            <div class="figure-value">
              {money(totals.charged, service.currency)}{" "}
              <span class="figure-note">in {formatCount(totals.calls)} calls</span>
            </div>
          </div>
          <BarChart
            id="spend"
            title="Spend"
            series={models}
            days={spend}
            show={(value) => money(value, service.currency)}
            showShort={(value) => axisMoney(value, service.currency)}
            least="0.000001"
          />
        </section>
      )}
      {keys.length > 0 && <KeysOf c={c} account={account.id} keys={keys} />}
      {movements.data.length > 0 && (
        <MovementTable
          title="Latest movements"
          movements={movements.data}
          currency={service.currency}
        />
      )}
    </>,
  );
}

function CreditForm(
  { c, account, faults: { credit, form = {} } }: {
    c: SiteContext;
    account: string;
    faults: Faults;
  },
) {
  return (
    <section class="card stack-s">
      <h2 class="card-title">Book credit</h2>
      {credit && <Notice kind="bad" role="alert">{credit}</Notice>}
      <Form c={c} action={`${ACCOUNTS}/${account}/credits`}>
        <div class="grid field-grid">
          <Select
            name="kind"
            label="Kind"
            options={[["cash", "Cash"], ["gift", "Gift"]]}
            value={form.kind}
          />
          <Field
            name="amount"
            label={`Amount in ${c.env.config.service.currency}`}
            inputmode="decimal"
            pattern="\d{1,20}(\.\d{1,12})?"
            placeholder="10.00"
            value={form.amount}
            required
          />
        </div>
        <Field
          name="reference"
          label="Reference"
          hint="The same reference is booked once."
          value={form.reference}
          maxlength={200}
          required
        />
        <Field name="expires_at" label="Ends on, for gifts" type="date" value={form.expires_at} />
        <div>
          <button type="submit" class="button button-primary">Book it</button>
        </div>
      </Form>
    </section>
  );
}

function PlanForm(
  { c, account, config, now, fault }: {
    c: SiteContext;
    account: string;
    config: Config;
    now: { name: string; expires_at: string | null };
    fault: string | undefined;
  },
) {
  const plans = [...config.plans.values()].map(({ id, name }) => [id, name] as const);
  return (
    <section class="card stack-s">
      <h2 class="card-title">Plan</h2>
      {fault && <Notice kind="bad" role="alert">{fault}</Notice>}
      <p class="soft small">
        What is left of the old plan's quotas lapses; the same plan again only moves its end.
      </p>
      <Form c={c} action={`${ACCOUNTS}/${account}/plan`}>
        <Select name="plan" label="On the plan" options={plans} value={now.name} />
        <Field
          name="ends_at"
          label="Ends on"
          type="date"
          hint="Left empty, it renews every month without end."
          value={now.expires_at?.slice(0, 10)}
        />
        <div>
          <button type="submit" class="button">Set the plan</button>
        </div>
      </Form>
    </section>
  );
}

function KeysOf(
  { c, account, keys }: {
    c: SiteContext;
    account: string;
    keys: Awaited<ReturnType<typeof listKeys>>;
  },
) {
  return (
    <TableCard title="Keys" columns={["Name", "Key", "Created", "Last used", ["", "right"]]}>
      {keys.toReversed().map((key) => (
        <tr>
          <td data-label="Name">{key.name}</td>
          <td data-label="Key" class="mono nowrap">sk-…{key.last4}</td>
          <td data-label="Created">{date(key.created)}</td>
          <td data-label="Last used">
            {key.last_used === null ? <span class="faint">never</span> : ago(key.last_used)}
          </td>
          <td class="right">
            {key.revoked !== null ? <Badge>revoked</Badge> : (
              <Form
                c={c}
                action={`${ACCOUNTS}/${account}/keys/${key.id}/revoke`}
                class=""
                data-confirm={`Revoke ${key.name}? Programs that use it fail at once.`}
              >
                <button type="submit" class="button button-small button-danger-quiet">
                  Revoke <span class="sr-only">{key.name}</span>
                </button>
              </Form>
            )}
          </td>
        </tr>
      ))}
    </TableCard>
  );
}
