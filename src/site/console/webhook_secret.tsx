import { findEndpoint } from "../../domain/webhooks/endpoints.ts";
import { OVERLAP_SECONDS, revealSecret, type SecretOwner } from "../../domain/webhooks/secrets.ts";
import { audited } from "../../domain/audit/audit.ts";
import { replaceSecret } from "../../workflows/accounts/manage_webhooks.ts";
import { memberOf } from "../actor.ts";
import { personOf, type SiteContext } from "../context.ts";
import { readSiteForm } from "../form.ts";
import { Form, Select } from "../parts.tsx";
import { formatDuration } from "../format.ts";
import { rotationForm } from "../request_forms.ts";
import { seeOtherWith } from "../respond.ts";
import type { ConsoleDeps } from "./deps.ts";
import { SecretCard } from "./secret_card.tsx";
import { Head, sendConsole } from "./shell.tsx";
import { WEBHOOKS } from "./webhooks.tsx";

/** The account's own secret, which signs events to a request's callback_url. */
const ACCOUNT_SECRET = "callback-secret";

/** GET /console/webhooks/{id}/secret and /console/webhooks/callback-secret */
export function secretPage({ webhooks: { sql, secretBox } }: ConsoleDeps) {
  return async function secretPage(c: SiteContext): Promise<Response> {
    const { owner, url } = await ownerOf(sql, c);
    const secret = await revealSecret(sql, secretBox, owner);
    const path = pathOf(owner);
    return sendConsole(
      c,
      { section: "webhooks", title: "Signing secret" },
      <>
        <nav class="crumbs" aria-label="Breadcrumb">
          <a href={owner.endpoint === null ? WEBHOOKS : `${WEBHOOKS}/${owner.endpoint}`}>
            {owner.endpoint === null ? "Webhooks" : "Endpoint"}
          </a>
        </nav>
        <Head
          title="Signing secret"
          note={
            <span class="break">
              {url ?? "Signs events to the callback_url of a request."}
            </span>
          }
        />
        <SecretCard secret={secret} />
        <section class="card stack">
          <h2 class="card-title">Rotate secret</h2>
          <p class="soft">
            While both secrets are valid, every event is signed with both, so that your receiver can
            switch without losing events.
          </p>
          <Form c={c} action={`${path}/rotate`} class="filters">
            <Select
              name="old"
              label="Old secret"
              options={[
                ["keep", `Keep for ${formatDuration(OVERLAP_SECONDS)}`],
                ["revoke", "Revoke now"],
              ]}
            />
            <button type="submit" class="button">Create new secret</button>
          </Form>
        </section>
      </>,
    );
  };
}

/** POST …/rotate */
export function rotateSecretPage(deps: ConsoleDeps) {
  return async function rotateSecretPage(c: SiteContext): Promise<Response> {
    const { owner } = await ownerOf(deps.database.sql, c);
    const { old } = await readSiteForm(c);
    const { overlap_seconds } = rotationForm.read(
      {},
      old === "revoke" ? { overlap_seconds: 0 } : {},
    );
    await audited(
      deps,
      memberOf(c),
      (change) => replaceSecret(change, deps.webhooks, owner, overlap_seconds),
    );
    return seeOtherWith(c, pathOf(owner), "good", "Secret rotated.");
  };
}

async function ownerOf(
  sql: ConsoleDeps["webhooks"]["sql"],
  c: SiteContext,
): Promise<{ owner: SecretOwner; url: string | null }> {
  const { account } = personOf(c);
  const id = c.req.param("id");
  if (id === undefined) return { owner: { account, endpoint: null }, url: null };
  const endpoint = await findEndpoint(sql, account, id);
  return { owner: { account, endpoint: endpoint.id }, url: endpoint.url };
}

function pathOf({ endpoint }: SecretOwner): string {
  return endpoint === null ? `${WEBHOOKS}/${ACCOUNT_SECRET}` : `${WEBHOOKS}/${endpoint}/secret`;
}
