import { type Account, listAccounts } from "../../../domain/accounts/accounts.ts";
import { requireConfigured } from "../../../domain/accounts/require_configured.ts";
import { availableBalances } from "../../../domain/ledger/balance.ts";
import { audited } from "../../../domain/audit/audit.ts";
import { openAccount } from "../../../workflows/accounts/manage_accounts.ts";
import type { Config } from "../../../platform/config/config.ts";
import { operatorOf } from "../../actor.ts";
import type { SiteContext } from "../../context.ts";
import { readSiteForm } from "../../form.ts";
import { type FieldLabels, type FormError, toFormError } from "../../form_error.ts";
import { Money } from "../../money.tsx";
import { Badge, Empty, Field, Form, Select } from "../../parts.tsx";
import { accountForm } from "../../request_forms.ts";
import { seeOtherWith } from "../../respond.ts";
import { Time } from "../../time.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { Head, Pager, sendConsole, TableCard } from "../shell.tsx";

export const ACCOUNTS = "/console/operator/accounts";
const PAGE = 25;
const LABELS: FieldLabels = { name: "Name", email: "Email", plan: "Plan" };

interface FilledForm {
  form: Record<string, string>;
  error: FormError;
}

/** GET /console/operator/accounts */
export function accountsPage(deps: ConsoleDeps) {
  return (c: SiteContext) => sendAccounts(deps, c);
}

/** POST /console/operator/accounts */
export function createAccountPage(deps: ConsoleDeps) {
  return async function createAccountPage(c: SiteContext): Promise<Response> {
    const form = await readSiteForm(c);
    try {
      const account = accountForm.read(form);
      requireConfigured(c.env.config, account);
      const { id, name } = await audited(
        deps,
        operatorOf(c),
        (change) => openAccount(change, account),
      );
      return seeOtherWith(c, `${ACCOUNTS}/${id}`, "good", `Account created: ${name}`);
    } catch (error) {
      return await sendAccounts(deps, c, { form, error: toFormError(error, LABELS) });
    }
  };
}

async function sendAccounts(
  { database, requestLog }: ConsoleDeps,
  c: SiteContext,
  filled?: FilledForm,
): Promise<Response> {
  const { sql } = database;
  const { q = "", after } = c.req.query();
  if (q.trim().startsWith("req_")) await requestLog.flush();
  const { data, hasMore } = await listAccounts(sql, {
    limit: PAGE,
    after,
    order: "desc",
    search: q.trim(),
  });
  const balances = await availableBalances(sql, data.map(({ id }) => id));
  return sendConsole(
    c,
    { section: "accounts", title: "Accounts", status: filled === undefined ? 200 : 400 },
    <>
      <Head title="Accounts" note="All customer accounts" />
      <form class="filters" method="get" action={ACCOUNTS} role="search">
        <Field
          name="q"
          label="Search"
          type="search"
          value={q}
          placeholder="Name, email, ID, key or request"
        />
        <button type="submit" class="button">Search</button>
      </form>
      {data.length === 0
        ? (
          <section class="card">
            <Empty title="No accounts found">
              <p>
                <a href={ACCOUNTS}>View all</a>, or create an account below.
              </p>
            </Empty>
          </section>
        )
        : (
          <TableCard
            columns={["Name", "Email", "Plan", "Created", ["Available", "right"]]}
            foot={
              <Pager
                path={ACCOUNTS}
                query={{ q, after }}
                lastId={data.at(-1)?.id}
                hasMore={hasMore}
              />
            }
          >
            {data.map((account) => (
              <AccountRow
                account={account}
                available={balances.get(account.id) ?? "0"}
                config={c.env.config}
              />
            ))}
          </TableCard>
        )}
      <NewAccount c={c} filled={filled} />
    </>,
  );
}

function NewAccount({ c, filled }: { c: SiteContext; filled: FilledForm | undefined }) {
  const plans = [...c.env.config.plans.values()].map(({ id, name }) => [id, name] as const);
  const { form = {}, error } = filled ?? {};
  const field = error?.field ?? "name";
  const errorOf = (name: string) => field === name ? error?.message : null;
  return (
    <details class="disclosure" open={error !== undefined}>
      <summary>New account</summary>
      <Form c={c} action={ACCOUNTS} class="filters">
        <Field
          name="name"
          label="Name"
          {...accountForm.limits("name")}
          value={form.name}
          error={errorOf("name")}
        />
        <Field
          name="email"
          label="Email (optional)"
          type="email"
          {...accountForm.limits("email")}
          value={form.email}
          error={errorOf("email")}
        />
        <Select name="plan" label="Plan" options={plans} value={form.plan ?? "free"} />
        <button type="submit" class="button button-primary">Create account</button>
      </Form>
    </details>
  );
}

function AccountRow(
  { account, available, config }: { account: Account; available: string; config: Config },
) {
  return (
    <tr>
      <td data-label="Name">
        <span>
          <a class="strong" href={`${ACCOUNTS}/${account.id}`}>{account.name}</a>
          <span class="mono faint small block">{account.id}</span>
        </span>
      </td>
      <td data-label="Email" class="break">{account.email ?? "—"}</td>
      <td data-label="Plan">
        <Badge>{config.plans.get(account.plan)?.name ?? account.plan}</Badge>{" "}
        {account.status !== "active" && <Badge kind="warn">{account.status}</Badge>}
      </td>
      <td data-label="Created">
        <Time at={account.created} as="date" />
      </td>
      <td data-label="Available" class="right">
        <Money amount={available} currency={config.service} />
      </td>
    </tr>
  );
}
