import { z } from "zod";
import type { NewKey } from "../../../schemas/requests.ts";
import {
  type ApiKey,
  BROWSER_KEY_PREFIX,
  listKeys,
  OWN_KEYS_MAX,
} from "../../domain/accounts/api_keys.ts";
import { audited } from "../../domain/audit/audit.ts";
import { exampleModel } from "../../http/example_of.ts";
import type { ModelReader } from "../../platform/config/config.ts";
import { modelFilter } from "../../domain/accounts/key_restrictions.ts";
import { mustStillBeSignedIn } from "../../domain/accounts/people.ts";
import { stashText, takeStash } from "../../domain/accounts/session_stash.ts";
import { issueKey, withdrawKey } from "../../workflows/accounts/manage_keys.ts";
import { memberOf } from "../actor.ts";
import { baseUrlOf } from "../base_url.ts";
import { ConnectPanel, KeyCommand } from "../clients/connect_panel.tsx";
import { connectionTo } from "../clients/connection.ts";
import { personOf, type SiteContext } from "../context.ts";
import { readSiteForm } from "../form.ts";
import { plural } from "../format.ts";
import { Badge, ConfirmForm, Empty, Form, Notice } from "../parts.tsx";
import { seeOther, seeOtherWith } from "../respond.ts";
import { Time } from "../time.tsx";
import { sessionSecretOf } from "../visitor.ts";
import { type FormError, toFormError } from "../form_error.ts";
import { pricedAccountOf } from "./account.ts";
import type { ConsoleDeps } from "./deps.ts";
import { findOwnKey, KEYS } from "./key.tsx";
import {
  KEY_LABELS,
  type KeyFields,
  KeyMarks,
  KeyNameField,
  KeyRestrictionFields,
  KeySpent,
  readKeyForm,
} from "./key_form.tsx";
import { LastUsed } from "./last_used.tsx";
import { SecretText } from "./secret_text.tsx";
import { Head, sendConsole, TableCard } from "./shell.tsx";

const PATH = KEYS;
/** Keys are created by people: 20 at once, then one every half minute. */
const CREATIONS = { burst: 20, everySeconds: 30 };

/** GET /console/keys */
export function keysPage({ database }: ConsoleDeps) {
  return async function keysPage(c: SiteContext): Promise<Response> {
    const keys = await listKeys(database.sql, personOf(c).account);
    return sendConsole(c, { section: "keys", title: "API keys" }, <Keys c={c} keys={keys} />);
  };
}

const StashedKey = z.object({
  name: z.string(),
  key: z.string(),
  models: z.array(z.string()).nullable(),
});

/** POST /console/keys: the key waits in the session's stash for the page that shows it once. */
export function createKeyPage(deps: ConsoleDeps) {
  const { database, throttle } = deps;
  return async function createKeyPage(c: SiteContext): Promise<Response> {
    const person = personOf(c);
    const { account } = person;
    const form = await readSiteForm(c);
    const wanted = readWanted(c, form);
    if ("message" in wanted) {
      const keys = await listKeys(database.sql, account);
      return sendConsole(
        c,
        { section: "keys", title: "API keys", status: 400 },
        <Keys c={c} keys={keys} fields={form} error={wanted} />,
      );
    }
    const { name } = wanted;
    await throttle.take([[`key:${account}`, CREATIONS]]);
    const ticket = await audited(deps, memberOf(c), async (change) => {
      await mustStillBeSignedIn(change.sql, person);
      const { key } = await issueKey(change, { ...wanted, account, maxKeys: OWN_KEYS_MAX });
      const created: z.infer<typeof StashedKey> = { name, key, models: wanted.models };
      return await stashText(change.sql, sessionSecretOf(c), JSON.stringify(created));
    });
    return seeOther(`${PATH}/created?${new URLSearchParams({ ticket })}`);
  };
}

/** GET /console/keys/created: shows a new key, once. */
export function createdKeyPage({ database }: ConsoleDeps) {
  return async function createdKeyPage(c: SiteContext): Promise<Response> {
    const ticket = c.req.query("ticket") ?? "";
    const stashed = await takeStash(database.sql, sessionSecretOf(c), ticket);
    if (stashed === null) {
      return seeOtherWith(c, PATH, "info", "This key was already shown. It cannot be shown again.");
    }
    const { name, key, models } = StashedKey.parse(JSON.parse(stashed));
    const reader = {
      ...await pricedAccountOf(c, { database }),
      allowsModel: models && modelFilter(models),
    };
    const keys = await listKeys(database.sql, personOf(c).account);
    return sendConsole(
      c,
      { section: "keys", title: "API key created" },
      <>
        <Head title={<>API key created: {name}</>} />
        <section class="card stack">
          <Notice kind="warn">Copy this key now. You won't be able to see it again.</Notice>
          <SecretText id="new-key" label="API key" text={key} />
          <UseKey c={c} reader={reader} apiKey={key} />
          <div>
            <a class="button" href={PATH}>Done</a>
          </div>
        </section>
        <KeyTable c={c} keys={keys} />
      </>,
    );
  };
}

/** How to use a new key with a chat model. Its settings contain the key, which this page shows anyway. */
function UseKey({ c, reader, apiKey }: { c: SiteContext; reader: ModelReader; apiKey: string }) {
  const { config } = c.env;
  const model = exampleModel(config, "chat", reader);
  const connection = model && connectionTo(config, model, { baseUrl: baseUrlOf(c), key: apiKey });
  if (!connection) return null;
  return (
    <div class="stack">
      <p class="soft">
        Set it in your environment and connect a client, here to {connection.model.name}.{" "}
        <a href="/docs/connect">Other models</a>
      </p>
      <KeyCommand connection={connection} />
      <ConnectPanel connection={connection} />
    </div>
  );
}

/** POST /console/keys/{id}/revoke */
export function revokeKeyPage(deps: ConsoleDeps) {
  return async function revokeKeyPage(c: SiteContext): Promise<Response> {
    const key = await findOwnKey(deps, c);
    await audited(deps, memberOf(c), (change) => withdrawKey(change, key.id));
    return seeOtherWith(c, PATH, "good", `API key revoked: ${key.name}`);
  };
}

function readWanted(c: SiteContext, form: KeyFields): Required<NewKey> | FormError {
  try {
    return readKeyForm(form, c.env.config);
  } catch (error) {
    return toFormError(error, KEY_LABELS);
  }
}

function Keys(
  { c, keys, fields = {}, error }: {
    c: SiteContext;
    keys: readonly ApiKey[];
    fields?: KeyFields;
    error?: FormError;
  },
) {
  return (
    <>
      <Head
        title="API keys"
        note="Keys authenticate API requests and spend your balance. Keep them secret and on servers."
      />
      <section class="card">
        <Form c={c} action={PATH}>
          <KeyNameField fields={fields} error={error} />
          <details class="disclosure" open={error !== undefined && error.field !== "name"}>
            <summary>Restrictions</summary>
            <KeyRestrictionFields fields={fields} error={error} />
          </details>
          <div>
            <button type="submit" class="button button-primary">Create key</button>
          </div>
        </Form>
      </section>
      <KeyTable c={c} keys={keys} />
    </>
  );
}

function KeyTable({ c, keys }: { c: SiteContext; keys: readonly ApiKey[] }) {
  const active = keys.filter(({ revoked }) => revoked === null).toReversed();
  const revoked = keys.filter(({ revoked }) => revoked !== null).toReversed();
  if (keys.length === 0) {
    return (
      <section class="card">
        <Empty title="No API keys yet">
          <p>Create a key above to send your first request.</p>
        </Empty>
      </section>
    );
  }
  return (
    <>
      <TableCard
        title={plural(active.length, "active key")}
        columns={["Name", "Key", "Created", "Last used", ["Spent", "right"], ["", "right"]]}
      >
        {active.map((key) => (
          <tr>
            <td data-label="Name">
              <span>
                <a href={`${PATH}/${key.id}`}>
                  <KeyName name={key.name} />
                </a>{" "}
                <KeyMarks restrictions={key} />
              </span>
            </td>
            <td data-label="Key" class="mono nowrap">sk-…{key.last4}</td>
            <td data-label="Created">
              <Time at={key.created} as="date" />
            </td>
            <td data-label="Last used">
              <LastUsed at={key.last_used} />
            </td>
            <td data-label="Spent" class="right">
              <KeySpent apiKey={key} currency={c.env.config.service} />
            </td>
            <td class="right">
              <ConfirmForm
                c={c}
                action={`${PATH}/${key.id}/revoke`}
                button="Revoke"
                confirm={`Revoke ${key.name}`}
                subject={key.name}
              >
                Requests using this key will fail immediately. This cannot be undone.
              </ConfirmForm>
            </td>
          </tr>
        ))}
      </TableCard>
      {revoked.length > 0 && <RevokedKeys keys={revoked} />}
    </>
  );
}

function RevokedKeys({ keys }: { keys: readonly ApiKey[] }) {
  return (
    <details class="disclosure">
      <summary>{plural(keys.length, "revoked key")}</summary>
      <ul class="plain-list">
        {keys.map((key) => (
          <li>
            <KeyName name={key.name} />{" "}
            <span class="faint">
              <span class="mono">sk-…{key.last4}</span>, revoked{" "}
              <Time at={key.revoked!} as="date" />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function KeyName({ name }: { name: string }) {
  if (!name.startsWith(BROWSER_KEY_PREFIX)) return <span class="strong">{name}</span>;
  return (
    <span class="row-tight">
      <span class="strong">{name.slice(BROWSER_KEY_PREFIX.length)}</span>
      <Badge kind="info">Browser authorization</Badge>
      <span class="sr-only">(key {name})</span>
    </span>
  );
}
