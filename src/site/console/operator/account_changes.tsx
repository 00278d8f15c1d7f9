import { type Account, findAccount } from "../../../domain/accounts/accounts.ts";
import { requireConfigured } from "../../../domain/accounts/require_configured.ts";
import { audited } from "../../../domain/audit/audit.ts";
import { toPriceJson } from "../../../http/endpoints/list_prices.ts";
import { type AccountUpdate, changeAccount } from "../../../workflows/accounts/manage_accounts.ts";
import { previewChange } from "../../../workflows/accounts/preview_change.ts";
import { TASK } from "../../../workflows/tasks/task.ts";
import { operatorOf } from "../../actor.ts";
import type { SiteContext } from "../../context.ts";
import { readSiteForm } from "../../form.ts";
import { type FieldLabels, toFormError } from "../../form_error.ts";
import { plural } from "../../format.ts";
import { accountChangeForm } from "../../request_forms.ts";
import { seeOtherWith } from "../../respond.ts";
import type { ConsoleDeps } from "../deps.ts";
import { Head, sendConsole, TableCard } from "../shell.tsx";
import { sendAccount } from "./account.tsx";
import { ACCOUNTS } from "./accounts.tsx";

const LABELS: FieldLabels = { name: "Name", email: "Email", price_book: "Price book" };

/** POST /console/operator/accounts/{id}/settings: name, email and price book, or a preview of the price book. */
export function updateAccountSettings(deps: ConsoleDeps) {
  return async function updateAccountSettings(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const form = await readSiteForm(c);
    try {
      const { name, email = null, price_book = null } = accountChangeForm.read({
        name: form.name ?? "",
        email: form.email ?? "",
        price_book: form.price_book ?? "",
      });
      requireConfigured(c.env.config, { price_book: price_book ?? undefined });
      if (form.preview !== undefined) return await sendPreview(deps, c, price_book);
      await change(deps, c, { name, email, price_book });
      return seeOtherWith(c, `${ACCOUNTS}/${id}`, "good", "Account saved.");
    } catch (error) {
      return await sendAccount(deps, c, { settings: toFormError(error, LABELS) });
    }
  };
}

const STATUSES = {
  suspend: ["suspended", "Account suspended. Its requests and sessions are refused."],
  resume: ["active", "Account active again."],
  close: ["closed", "Account closed."],
} as const;

/** POST /console/operator/accounts/{id}/{suspend|resume|close} */
export function setAccountStatus(deps: ConsoleDeps, to: keyof typeof STATUSES) {
  return async function setAccountStatus(c: SiteContext): Promise<Response> {
    const [status, message] = STATUSES[to];
    await change(deps, c, { status });
    return seeOtherWith(c, `${ACCOUNTS}/${c.req.param("id")}`, "good", message);
  };
}

function change(deps: ConsoleDeps, c: SiteContext, fields: AccountUpdate): Promise<Account> {
  const id = c.req.param("id") ?? "";
  return audited(
    deps,
    operatorOf(c),
    (change) =>
      changeAccount(
        change,
        id,
        fields,
        (task) => deps.tasks.queue.notify({ kind: TASK, id: task }),
      ),
  );
}

/** What another price book would change. */
async function sendPreview(
  { database }: ConsoleDeps,
  c: SiteContext,
  price_book: string | null,
): Promise<Response> {
  const account = await findAccount(database.sql, c.req.param("id") ?? "");
  const { prices } = previewChange(c.env.config, account, { price_book }, toPriceJson);
  const text = (price: object | null) =>
    price === null ? "—" : Object.entries(price).filter(([name]) => name !== "model")
      .map(([name, value]) => `${name}: ${value}`).join(", ");
  return sendConsole(
    c,
    { section: "accounts", title: "Preview of prices" },
    <>
      <nav class="crumbs" aria-label="Breadcrumb">
        <a href={`${ACCOUNTS}/${account.id}`}>{account.name}</a>
      </nav>
      <Head
        title="Preview of prices"
        note={`With ${price_book ?? "the price book of the plan"}, ${
          plural(prices.length, "price")
        } would change. Nothing was saved.`}
      />
      {prices.length > 0 && (
        <TableCard columns={["Model", "Now", "Then"]}>
          {prices.map(({ model, before, after }) => (
            <tr>
              <td data-label="Model" class="strong">{model}</td>
              <td data-label="Now">{text(before)}</td>
              <td data-label="Then">{text(after)}</td>
            </tr>
          ))}
        </TableCard>
      )}
    </>,
  );
}
