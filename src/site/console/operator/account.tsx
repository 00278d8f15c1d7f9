import { findAccount } from "../../../domain/accounts/accounts.ts";
import { type ApiKey, listKeys } from "../../../domain/accounts/api_keys.ts";
import { type Balance, readBalance } from "../../../domain/ledger/balance.ts";
import { listMovements } from "../../../domain/ledger/movements.ts";
import { usageChart } from "../../../domain/ledger/usage_days.ts";
import type { SiteContext } from "../../context.ts";
import { type FormError, messageAt } from "../../form_error.ts";
import { type MoneyFormat, plural } from "../../format.ts";
import { Money } from "../../money.tsx";
import { Badge, ConfirmForm, Field, Form, Notice, Select } from "../../parts.tsx";
import { creditForm } from "../../request_forms.ts";
import { Time } from "../../time.tsx";
import { BalanceCard } from "../balance.tsx";
import { MovementTable } from "../billing.tsx";
import { SpendChart } from "../chart.tsx";
import { KeyMarks, KeySpent } from "../key_form.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { Head, sendConsole, TableCard } from "../shell.tsx";
import { dayAgo, figuresOf, type UsageFigures } from "../usage_figures.ts";
import { AccountSettings } from "./account_settings.tsx";
import { ACCOUNTS } from "./accounts.tsx";

const SPAN_DAYS = 30;

/** Errors of this page's forms, and the credit form as it was sent. */
export interface AccountFormErrors {
  credit?: FormError;
  plan?: FormError;
  settings?: FormError;
  form?: Record<string, string>;
}

/** GET /console/operator/accounts/{id} */
export function operatorAccountPage(deps: ConsoleDeps) {
  return (c: SiteContext) => sendAccount(deps, c);
}

export async function sendAccount(
  { database }: ConsoleDeps,
  c: SiteContext,
  errors: AccountFormErrors = {},
): Promise<Response> {
  const { sql } = database;
  const { service } = c.env.config;
  const account = await findAccount(sql, c.req.param("id") ?? "");
  const [balance, rows, keys, movements] = await Promise.all([
    readBalance(sql, account.id, service.currency),
    usageChart(sql, account.id, dayAgo(SPAN_DAYS - 1)),
    listKeys(sql, account.id),
    listMovements(sql, { account: account.id, limit: 10 }),
  ]);
  const figures = figuresOf(rows, SPAN_DAYS);
  const { credit, plan, settings } = errors;
  const hasError = [credit, plan, settings].some((error) => error !== undefined);
  return sendConsole(
    c,
    { section: "accounts", title: account.name, scripts: ["chart"], status: hasError ? 400 : 200 },
    <>
      <nav class="crumbs" aria-label="Breadcrumb">
        <a href={ACCOUNTS}>Accounts</a>
      </nav>
      <Head
        title={account.name}
        note={
          <>
            <span class="mono break">{account.id}</span>
            {account.email !== null && <>, {account.email}</>}, created{" "}
            <Time at={account.created} as="date" />
          </>
        }
      />
      <BalanceCard balance={balance} config={c.env.config} />
      <div class="grid billing-grid">
        <CreditForm c={c} account={account.id} errors={errors} />
        <PlanForm c={c} account={account.id} plan={balance.plan} error={plan} />
        <AccountSettings c={c} account={account} error={settings} />
      </div>
      <SpendCard figures={figures} currency={service} />
      {keys.length > 0 && <AccountKeys c={c} account={account.id} keys={keys} />}
      {movements.data.length > 0 && (
        <MovementTable
          title="Recent transactions"
          movements={movements.data}
          currency={service}
        />
      )}
    </>,
  );
}

function SpendCard({ figures, currency }: { figures: UsageFigures; currency: MoneyFormat }) {
  const { models, spend, totals } = figures;
  if (totals.calls + totals.failed === 0) return null;
  return (
    <section class="card stack">
      <div class="figure">
        <h2 class="figure-name">Spend, last {SPAN_DAYS} days</h2>
        <div class="figure-value">
          <Money amount={totals.charged} currency={currency} />{" "}
          <span class="figure-note">{plural(totals.calls, "request")}</span>
        </div>
      </div>
      <SpendChart id="spend" title="Spend" series={models} days={spend} currency={currency} />
    </section>
  );
}

/** The error of a form where no field of it has it. */
function FormNotice({ error, fields }: { error: FormError | undefined; fields: string[] }) {
  if (error === undefined || fields.includes(error.field ?? "")) return null;
  return <Notice kind="bad" role="alert">{error.message}</Notice>;
}

function CreditForm(
  { c, account, errors: { credit, form = {} } }: {
    c: SiteContext;
    account: string;
    errors: AccountFormErrors;
  },
) {
  const errorOf = (field: string) => messageAt(credit, field);
  return (
    <section class="card stack-s">
      <h2 class="card-title">Add credit</h2>
      <FormNotice error={credit} fields={["amount", "reference", "expires_at", "reason"]} />
      <Form c={c} action={`${ACCOUNTS}/${account}/credits`}>
        <div class="grid field-grid">
          <Select
            name="kind"
            label="Type"
            options={[
              ["cash", "Cash"],
              ["gift", "Promotional credit"],
              ["correction", "Correction"],
            ]}
            value={form.kind}
          />
          <Field
            name="amount"
            label={`Amount in ${c.env.config.service.currency}`}
            inputmode="decimal"
            {...creditForm.limits("amount")}
            placeholder="10.00"
            hint="A correction may be negative."
            value={form.amount}
            error={errorOf("amount")}
          />
        </div>
        <Field
          name="reference"
          label="Reference"
          hint="Each reference is booked only once."
          value={form.reference}
          error={errorOf("reference")}
          {...creditForm.limits("reference")}
        />
        <Field
          name="expires_at"
          label="Expires on (promotional credit only)"
          type="date"
          value={form.expires_at}
          error={errorOf("expires_at")}
        />
        <Field
          name="reason"
          label="Reason (correction only)"
          value={form.reason}
          error={errorOf("reason")}
          {...creditForm.limits("reason")}
        />
        <div>
          <button type="submit" class="button button-primary">Add credit</button>
        </div>
      </Form>
    </section>
  );
}

function PlanForm(
  { c, account, plan, error }: {
    c: SiteContext;
    account: string;
    plan: Balance["plan"];
    error: FormError | undefined;
  },
) {
  const plans = [...c.env.config.plans.values()].map(({ id, name }) => [id, name] as const);
  return (
    <section class="card stack-s">
      <h2 class="card-title">Plan</h2>
      <FormNotice error={error} fields={["expires_at"]} />
      <p class="soft small">
        Changing the plan drops the remaining quota of the old one. Setting the same plan only
        changes its end.
      </p>
      <Form c={c} action={`${ACCOUNTS}/${account}/plan`}>
        <Select name="plan" label="Plan" options={plans} value={plan.name} />
        <Field
          name="ends_at"
          label="Ends on"
          type="date"
          hint="Leave empty to renew every month."
          value={plan.expires_at?.slice(0, 10)}
          error={messageAt(error, "expires_at")}
        />
        <div>
          <button type="submit" class="button">Set plan</button>
        </div>
      </Form>
    </section>
  );
}

function AccountKeys(
  { c, account, keys }: { c: SiteContext; account: string; keys: readonly ApiKey[] },
) {
  return (
    <TableCard
      title="API keys"
      columns={["Name", "Key", "Created", "Last used", ["Spent", "right"], ["", "right"]]}
    >
      {keys.toReversed().map((key) => (
        <tr>
          <td data-label="Name">
            {key.name} <KeyMarks restrictions={key} />
          </td>
          <td data-label="Key" class="mono nowrap">sk-…{key.last4}</td>
          <td data-label="Created">
            <Time at={key.created} as="date" />
          </td>
          <td data-label="Last used">
            {key.last_used === null
              ? <span class="faint">Never</span>
              : <Time at={key.last_used} as="relative" />}
          </td>
          <td data-label="Spent" class="right">
            <KeySpent apiKey={key} currency={c.env.config.service} />
          </td>
          <td class="right">
            {key.revoked !== null ? <Badge>Revoked</Badge> : (
              <ConfirmForm
                c={c}
                action={`${ACCOUNTS}/${account}/keys/${key.id}/revoke`}
                button="Revoke"
                confirm={`Revoke ${key.name}`}
                subject={key.name}
              >
                Requests using this key will fail immediately. This cannot be undone.
              </ConfirmForm>
            )}
          </td>
        </tr>
      ))}
    </TableCard>
  );
}
