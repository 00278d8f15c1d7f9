import { type ApiKey, listKeys } from "../../domain/accounts/api_keys.ts";
import { audited } from "../../domain/audit/audit.ts";
import { ApiError } from "../../lib/api_error.ts";
import { changeKey } from "../../workflows/accounts/manage_keys.ts";
import { memberOf } from "../actor.ts";
import { personOf, type SiteContext } from "../context.ts";
import { readSiteForm } from "../form.ts";
import { type FormError, toFormError } from "../form_error.ts";
import { Form } from "../parts.tsx";
import { seeOtherWith } from "../respond.ts";
import type { ConsoleDeps } from "./deps.ts";
import {
  KEY_LABELS,
  type KeyFields,
  KeyNameField,
  KeyRestrictionFields,
  readKeyForm,
  toKeyFields,
} from "./key_form.tsx";
import { Head, sendConsole } from "./shell.tsx";

export const KEYS = "/console/keys";

/** GET /console/keys/{id}: what the key may do, to change it. */
export function keyPage(deps: ConsoleDeps) {
  return async function keyPage(c: SiteContext): Promise<Response> {
    const key = await findOwnKey(deps, c);
    return sendKey(c, key, toKeyFields(key));
  };
}

/** POST /console/keys/{id}: responds when every node acts on the change. */
export function updateKeyPage(deps: ConsoleDeps) {
  return async function updateKeyPage(c: SiteContext): Promise<Response> {
    const key = await findOwnKey(deps, c);
    const fields = await readSiteForm(c);
    try {
      const wanted = readKeyForm(fields, c.env.config);
      await audited(deps, memberOf(c), (change) => changeKey(change, key.id, wanted));
      return seeOtherWith(c, KEYS, "good", `API key saved: ${wanted.name}`);
    } catch (error) {
      return sendKey(c, key, fields, toFormError(error, KEY_LABELS));
    }
  };
}

/** The key of the path, if it is the account's own. */
export async function findOwnKey({ database }: ConsoleDeps, c: SiteContext): Promise<ApiKey> {
  const id = c.req.param("id") ?? "";
  const keys = await listKeys(database.sql, personOf(c).account);
  const key = keys.find((each) => each.id === id);
  if (key === undefined) throw new ApiError("not_found", "There is no such key.");
  return key;
}

function sendKey(c: SiteContext, key: ApiKey, fields: KeyFields, error?: FormError): Response {
  return sendConsole(
    c,
    { section: "keys", title: key.name, status: error === undefined ? 200 : 400 },
    <>
      <nav class="crumbs" aria-label="Breadcrumb">
        <a href={KEYS}>API keys</a>
      </nav>
      <Head title={key.name} note={<span class="mono">sk-…{key.last4}</span>} />
      <section class="card stack-s">
        <Form c={c} action={`${KEYS}/${key.id}`}>
          <KeyNameField fields={fields} error={error} />
          <KeyRestrictionFields fields={fields} error={error} />
          <div>
            <button type="submit" class="button button-primary">Save</button>
          </div>
        </Form>
      </section>
    </>,
  );
}
