import { z } from "zod";
import {
  ADMIN_SCOPES,
  type AdminScope,
  type AdminToken,
  listAdminTokens,
} from "../../../domain/accounts/admin_tokens.ts";
import { stashText, takeStash } from "../../../domain/accounts/session_stash.ts";
import { audited } from "../../../domain/audit/audit.ts";
import { issueAdminToken, withdrawAdminToken } from "../../../workflows/accounts/manage_keys.ts";
import { operatorOf } from "../../actor.ts";
import type { SiteContext } from "../../context.ts";
import { readSiteForm } from "../../form.ts";
import { type FieldLabels, type FormError, toFormError } from "../../form_error.ts";
import { Badge, ConfirmForm, Empty, Form, Notice } from "../../parts.tsx";
import { adminTokenForm } from "../../request_forms.ts";
import { seeOther, seeOtherWith } from "../../respond.ts";
import { Time } from "../../time.tsx";
import { sessionSecretOf } from "../../visitor.ts";
import type { ConsoleDeps } from "../deps.ts";
import { LastUsed } from "../last_used.tsx";
import { NameField } from "../name_field.tsx";
import { SecretText } from "../secret_text.tsx";
import { Head, sendConsole, TableCard } from "../shell.tsx";

export const TOKENS = "/console/operator/tokens";
const LABELS: FieldLabels = { name: "Name", scopes: "Scopes" };
const SCOPE_NOTES: Readonly<Record<AdminScope, string>> = {
  read: "See every list and detail",
  money: "Credits, plans and price books",
  configuration: "Reload the configuration",
  support: "Accounts, API keys, passwords, tasks and webhooks",
};

interface FilledForm {
  form: Record<string, string>;
  error: FormError;
}

/** GET /console/operator/tokens */
export function tokensPage(deps: ConsoleDeps) {
  return (c: SiteContext) => sendTokens(deps, c);
}

const Created = z.object({ name: z.string(), token: z.string() });

/** POST /console/operator/tokens: the token waits in the session's stash for the page that shows it once. */
export function createTokenPage(deps: ConsoleDeps) {
  return async function createTokenPage(c: SiteContext): Promise<Response> {
    const form = await readSiteForm(c);
    try {
      const scopes = ADMIN_SCOPES.filter((scope) => form[scope] !== undefined);
      const fields = adminTokenForm.read({ name: form.name ?? "" }, { scopes });
      const ticket = await audited(deps, operatorOf(c), async (change) => {
        const { name, token } = await issueAdminToken(change, fields);
        const created: z.infer<typeof Created> = { name, token };
        return await stashText(change.sql, sessionSecretOf(c), JSON.stringify(created));
      });
      return seeOther(`${TOKENS}/created?${new URLSearchParams({ ticket })}`);
    } catch (error) {
      return await sendTokens(deps, c, { form, error: toFormError(error, LABELS) });
    }
  };
}

/** GET /console/operator/tokens/created: shows a new token, once. */
export function createdTokenPage({ database }: ConsoleDeps) {
  return async function createdTokenPage(c: SiteContext): Promise<Response> {
    const ticket = c.req.query("ticket") ?? "";
    const stashed = await takeStash(database.sql, sessionSecretOf(c), ticket);
    if (stashed === null) {
      return seeOtherWith(c, TOKENS, "info", "This token was already shown.");
    }
    const { name, token } = Created.parse(JSON.parse(stashed));
    return sendConsole(
      c,
      { section: "tokens", title: "Admin token created" },
      <>
        <Head title={<>Admin token created: {name}</>} />
        <section class="card stack">
          <Notice kind="warn">Copy this token now. You won't be able to see it again.</Notice>
          <SecretText id="new-token" label="Admin token" text={token} />
          <div>
            <a class="button" href={TOKENS}>Done</a>
          </div>
        </section>
      </>,
    );
  };
}

/** POST /console/operator/tokens/{id}/revoke */
export function revokeTokenPage(deps: ConsoleDeps) {
  return async function revokeTokenPage(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const { name } = await audited(
      deps,
      operatorOf(c),
      (change) => withdrawAdminToken(change, id),
    );
    return seeOtherWith(c, TOKENS, "good", `Admin token revoked: ${name}`);
  };
}

async function sendTokens(
  { database }: ConsoleDeps,
  c: SiteContext,
  filled?: FilledForm,
): Promise<Response> {
  const tokens = await listAdminTokens(database.sql);
  return sendConsole(
    c,
    { section: "tokens", title: "Admin tokens", status: filled === undefined ? 200 : 400 },
    <>
      <Head
        title="Admin tokens"
        note="For programs and colleagues who use the admin API or the command line. Each may do what its scopes say."
      />
      <NewToken c={c} filled={filled} />
      {tokens.length === 0
        ? (
          <section class="card">
            <Empty title="No admin tokens yet">
              <p>Until there is one, only the root token works.</p>
            </Empty>
          </section>
        )
        : (
          <TableCard columns={["Name", "Token", "Scopes", "Created", "Last used", ["", "right"]]}>
            {tokens.map((token) => <TokenRow c={c} token={token} />)}
          </TableCard>
        )}
    </>,
  );
}

function NewToken({ c, filled }: { c: SiteContext; filled: FilledForm | undefined }) {
  const { form = {}, error } = filled ?? {};
  return (
    <section class="card stack-s">
      {error !== undefined && error.field !== "name" && (
        <Notice kind="bad" role="alert">{error.message}</Notice>
      )}
      <Form c={c} action={TOKENS}>
        <NameField form={adminTokenForm} value={form.name} example="help desk" error={error} />
        <fieldset class="stack-s">
          <legend>Scopes</legend>
          {ADMIN_SCOPES.map((scope) => (
            <label class="check">
              <input type="checkbox" name={scope} checked={form[scope] !== undefined} />
              <span>
                <code>{scope}</code> <span class="soft">{SCOPE_NOTES[scope]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <div>
          <button type="submit" class="button button-primary">Create token</button>
        </div>
      </Form>
    </section>
  );
}

function TokenRow({ c, token }: { c: SiteContext; token: AdminToken }) {
  return (
    <tr>
      <td data-label="Name" class="strong">{token.name}</td>
      <td data-label="Token" class="mono nowrap">adm-…{token.last4}</td>
      <td data-label="Scopes">{token.scopes.join(", ")}</td>
      <td data-label="Created">
        <Time at={token.created} as="date" />
      </td>
      <td data-label="Last used">
        <LastUsed at={token.last_used} />
      </td>
      <td class="right">
        {token.revoked !== null ? <Badge>Revoked</Badge> : (
          <ConfirmForm
            c={c}
            action={`${TOKENS}/${token.id}/revoke`}
            button="Revoke"
            confirm={`Revoke ${token.name}`}
            subject={token.name}
          >
            Requests using this token will fail immediately. This cannot be undone.
          </ConfirmForm>
        )}
      </td>
    </tr>
  );
}
