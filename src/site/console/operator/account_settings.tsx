import type { Account } from "../../../domain/accounts/accounts.ts";
import { CLOSED_FILES_DAYS } from "../../../workflows/accounts/manage_accounts.ts";
import type { SiteContext } from "../../context.ts";
import { type FormError, messageAt } from "../../form_error.ts";
import { Badge, ConfirmForm, Field, Form, Notice, Select } from "../../parts.tsx";
import { accountChangeForm } from "../../request_forms.ts";
import { ACCOUNTS } from "./accounts.tsx";

const STATUS_MARKS = { active: "good", suspended: "warn", closed: "bad" } as const;

/** Name, email, price book and status of an account. */
export function AccountSettings(
  { c, account, error }: { c: SiteContext; account: Account; error: FormError | undefined },
) {
  const books = [...c.env.config.books.keys()].map((name) => [name, name] as const);
  const errorOf = (field: string) => messageAt(error, field);
  return (
    <section class="card stack-s">
      <h2 class="card-title">
        Account <Badge kind={STATUS_MARKS[account.status]}>{account.status}</Badge>
      </h2>
      {error !== undefined && error.field === null && (
        <Notice kind="bad" role="alert">{error.message}</Notice>
      )}
      <Form c={c} action={`${ACCOUNTS}/${account.id}/settings`}>
        <Field
          name="name"
          label="Name"
          value={account.name}
          error={errorOf("name")}
          {...accountChangeForm.limits("name")}
          required
        />
        <Field
          name="email"
          label="Email (optional)"
          type="email"
          value={account.email ?? ""}
          error={errorOf("email")}
          {...accountChangeForm.limits("email")}
        />
        <Select
          name="price_book"
          label="Price book"
          options={[["", "Of the plan"], ...books]}
          value={account.price_book ?? ""}
        />
        <div class="row">
          <button type="submit" class="button">Save</button>
          <button type="submit" class="button" name="preview" value="1">Preview prices</button>
        </div>
      </Form>
      <StatusForms c={c} account={account} />
    </section>
  );
}

function StatusForms({ c, account: { id, name, status } }: { c: SiteContext; account: Account }) {
  if (status === "closed") return null;
  return (
    <div class="row">
      {status === "active"
        ? (
          <ConfirmForm
            c={c}
            action={`${ACCOUNTS}/${id}/suspend`}
            button="Suspend"
            confirm={`Suspend ${name}`}
          >
            Every request and session of this account is refused, and its streams end.
          </ConfirmForm>
        )
        : (
          <Form c={c} action={`${ACCOUNTS}/${id}/resume`} class="">
            <button type="submit" class="button button-small">Resume</button>
          </Form>
        )}
      <ConfirmForm
        c={c}
        action={`${ACCOUNTS}/${id}/close`}
        button="Close"
        confirm={`Close ${name}`}
      >
        Keys, sessions, webhook endpoints and tasks end; files are deleted after {CLOSED_FILES_DAYS}
        {" "}
        days. This cannot be undone.
      </ConfirmForm>
    </div>
  );
}
