import { type Account, createAccount, listAccounts } from "../../../domain/accounts/accounts.ts";
import { availableBalances } from "../../../domain/ledger/balance.ts";
import type { SiteContext } from "../../context.ts";
import { readSiteForm } from "../../form.ts";
import { Badge, Empty, Field, Form, Select } from "../../parts.tsx";
import { seeOtherWith } from "../../respond.ts";
import type { ConsoleDeps } from "../deps.ts";
import { date, money } from "../format.ts";
import { Head, Pager, sendConsole, TableCard } from "../shell.tsx";
import { apiErrorText } from "./error_text.ts";

export const ACCOUNTS = "/console/operator/accounts";
const PAGE = 25;

/** GET /console/operator/accounts */
export function accountsPage(deps: ConsoleDeps) {
  return (c: SiteContext) => sendAccounts(deps, c);
}

/** POST /console/operator/accounts */
export function createAccountPage(deps: ConsoleDeps) {
  return async function createAccountPage(c: SiteContext): Promise<Response> {
    const form = await readSiteForm(c);
    const name = (form.name ?? "").trim();
    const plan = form.plan ?? "free";
    if (name === "" || name.length > 200) {
      return await sendAccounts(deps, c, "A name has 1 to 200 characters.");
    }
    if (!c.env.config.plans.has(plan)) return await sendAccounts(deps, c, "There is no such plan.");
    try {
      const email = (form.email ?? "").trim() || undefined;
      const { id } = await createAccount(deps.database.sql, { name, email, plan });
      return seeOtherWith(c, `${ACCOUNTS}/${id}`, "good", `The account ${name} is there.`);
    } catch (error) {
      return await sendAccounts(deps, c, apiErrorText(error));
    }
  };
}

async function sendAccounts(
  { database }: ConsoleDeps,
  c: SiteContext,
  fault?: string,
): Promise<Response> {
  const { sql } = database;
  const { currency } = c.env.config.service;
  const { q = "", after } = c.req.query();
  const { data, hasMore } = await listAccounts(sql, {
    limit: PAGE,
    after,
    order: "desc",
    search: q.trim(),
  });
  const balances = await availableBalances(sql, data.map(({ id }) => id));
  const plans = [...c.env.config.plans.values()].map(({ id, name }) => [id, name] as const);
  return sendConsole(
    c,
    { section: "accounts", title: "Accounts", status: fault === undefined ? 200 : 400 },
    <>
      <Head title="Accounts" note="Everybody who has a balance here." />
      <form class="filters" method="get" action={ACCOUNTS} role="search">
        <Field name="q" label="Search" type="search" value={q} placeholder="Name, e-mail or id" />
        <button type="submit" class="button">Search</button>
      </form>
      {data.length === 0
        ? (
          <section class="card">
            <Empty title="No account fits">
              <p>
                <a href={ACCOUNTS}>See all of them</a>, or make one below.
              </p>
            </Empty>
          </section>
        )
        : (
          <TableCard
            columns={["Name", "E-mail", "Plan", "Since", ["Available", "right"]]}
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
                available={money(balances.get(account.id) ?? "0", currency)}
              />
            ))}
          </TableCard>
        )}
      <details class="disclosure" open={fault !== undefined}>
        <summary>New account</summary>
        <Form c={c} action={ACCOUNTS} class="filters">
          <Field name="name" label="Name" required maxlength={200} fault={fault} />
          <Field name="email" label="E-mail, if any" type="email" />
          <Select name="plan" label="Plan" options={plans} value="free" />
          <button type="submit" class="button button-primary">Create account</button>
        </Form>
      </details>
    </>,
  );
}

function AccountRow({ account, available }: { account: Account; available: string }) {
  return (
    <tr>
      <td data-label="Name">
        <span>
          <a class="strong" href={`${ACCOUNTS}/${account.id}`}>{account.name}</a>
          <span class="mono faint small account-id">{account.id}</span>
        </span>
      </td>
      <td data-label="E-mail" class="break">{account.email ?? <span class="faint">none</span>}</td>
      <td data-label="Plan">
        <Badge>{account.plan}</Badge>
      </td>
      <td data-label="Since" class="nowrap">{date(account.created)}</td>
      <td data-label="Available" class="right">{available}</td>
    </tr>
  );
}
