import {
  type ApiKey,
  createKey,
  listKeys,
  OWN_KEYS_MAX,
  revokeKey,
} from "../../domain/accounts/api_keys.ts";
import { mustStillBeSignedIn } from "../../domain/accounts/people.ts";
import { ApiError } from "../../lib/api_error.ts";
import { personOf, type SiteContext } from "../context.ts";
import { Badge, CodeBox, CopyButton, Empty, Field, Form, Notice } from "../parts.tsx";
import { seeOtherWith } from "../respond.ts";
import { pricedAccountOf } from "./account.ts";
import type { ConsoleDeps } from "./deps.ts";
import { firstCall } from "./first_call.ts";
import { ago, date } from "./format.ts";
import { readSiteForm } from "../form.ts";
import { Head, sendConsole, TableCard } from "./shell.tsx";

const NAME_MAX = 100;
/** Keys are made by people: this many at once, then one every half minute. */
const CREATIONS = { burst: 20, everySeconds: 30 };
/** Keys that browser authorization made; the rest is the client's name. */
const BROWSER = "BA:";

/** GET /console/keys */
export function keysPage({ database }: ConsoleDeps) {
  return async function keysPage(c: SiteContext): Promise<Response> {
    const keys = await listKeys(database.sql, personOf(c).account);
    return sendConsole(c, { section: "keys", title: "API keys" }, <Keys c={c} keys={keys} />);
  };
}

/** POST /console/keys: the one page that ever shows the key. */
export function createKeyPage({ database, throttle }: ConsoleDeps) {
  return async function createKeyPage(c: SiteContext): Promise<Response> {
    const person = personOf(c);
    const { account } = person;
    const form = await readSiteForm(c);
    const name = (form.name ?? "").trim();
    const fault = faultOf(name);
    if (fault !== null) {
      const keys = await listKeys(database.sql, account);
      return sendConsole(
        c,
        { section: "keys", title: "API keys", status: 400 },
        <Keys c={c} keys={keys} name={name} fault={fault} />,
      );
    }
    await throttle.take([[`key:${account}`, CREATIONS]]);
    const made = await database.sql.begin(async (sql) => {
      await mustStillBeSignedIn(sql, person);
      return await createKey(sql, account, name, OWN_KEYS_MAX);
    });
    const example = firstCall(c, await pricedAccountOf(c, { database }));
    const keys = await listKeys(database.sql, account);
    return sendConsole(
      c,
      { section: "keys", title: "Your new key" },
      <>
        <Head title="Your new key" note={`It is called ${made.name}.`} />
        <section class="card stack">
          <Notice kind="warn">
            <strong>Copy it now.</strong>
            <span>Only a fingerprint of it is kept: this page is the one place that shows it.</span>
          </Notice>
          <div class="secret">
            <code id="new-key" aria-label="API key">{made.key}</code>
            <CopyButton target="#new-key" />
          </div>
          {example !== null && (
            <div class="stack-s">
              <p class="soft">Put it into the environment, and make a call:</p>
              <CodeBox id="new-key-env" text={`export TOLLGATE_KEY='${made.key}'`} />
              <CodeBox id="new-key-call" text={example.curl} />
            </div>
          )}
          <div>
            <a class="button" href="/console/keys">I have copied it</a>
          </div>
        </section>
        <KeyTable c={c} keys={keys} />
      </>,
    );
  };
}

/** POST /console/keys/{id}/revoke */
export function revokeKeyPage({ database, cluster }: ConsoleDeps) {
  return async function revokeKeyPage(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const keys = await listKeys(database.sql, personOf(c).account);
    const key = keys.find((each) => each.id === id);
    if (key === undefined) throw new ApiError("not_found", "There is no such key.");
    await revokeKey(database, cluster, id);
    return seeOtherWith(
      c,
      "/console/keys",
      "good",
      `The key ${key.name} is revoked: nothing accepts it any more.`,
    );
  };
}

function faultOf(name: string): string | null {
  if (name === "") return "Give it a name, so that you know later where it is used.";
  if (name.length > NAME_MAX) return `A name has ${NAME_MAX} characters at the most.`;
  // Such names say that a client was authorized in the browser, and are replaced by the next time.
  return name.startsWith(BROWSER)
    ? `Names that begin with ${BROWSER} are for clients authorized in the browser.`
    : null;
}

function Keys(
  { c, keys, name, fault }: {
    c: SiteContext;
    keys: readonly ApiKey[];
    name?: string;
    fault?: string;
  },
) {
  return (
    <>
      <Head
        title="API keys"
        note="For programs that call this gateway. Keep them on servers: whoever has one can spend your balance."
      />
      <section class="card">
        <Form c={c} action="/console/keys" class="inline-form">
          <Field
            name="name"
            label="Name of the new key"
            placeholder="Where it will be used, such as production"
            value={name}
            fault={fault}
            maxlength={NAME_MAX}
            required
            autocomplete="off"
          />
          <button type="submit" class="button button-primary">Create key</button>
        </Form>
      </section>
      <KeyTable c={c} keys={keys} />
    </>
  );
}

function KeyTable({ c, keys }: { c: SiteContext; keys: readonly ApiKey[] }) {
  const [live, gone] = [
    keys.filter(({ revoked }) => revoked === null).toReversed(),
    keys.filter(({ revoked }) => revoked !== null).toReversed(),
  ];
  if (keys.length === 0) {
    return (
      <section class="card">
        <Empty title="No key yet">
          <p>Create one above; the first call is one command away.</p>
        </Empty>
      </section>
    );
  }
  return (
    <>
      <TableCard
        title={live.length === 1 ? "1 key in use" : `${live.length} keys in use`}
        columns={["Name", "Key", "Created", "Last used", ["", "right"]]}
      >
        {live.map((key) => (
          <tr>
            <td data-label="Name">
              <KeyName name={key.name} />
            </td>
            <td data-label="Key" class="mono nowrap">sk-…{key.last4}</td>
            <td data-label="Created">{date(key.created)}</td>
            <td data-label="Last used">
              {key.last_used === null ? <span class="faint">never</span> : ago(key.last_used)}
            </td>
            <td class="right">
              <RevokeForm c={c} apiKey={key} />
            </td>
          </tr>
        ))}
      </TableCard>
      {gone.length > 0 && (
        <details class="disclosure">
          <summary>{gone.length === 1 ? "1 revoked key" : `${gone.length} revoked keys`}</summary>
          <ul class="plain-list">
            {gone.map((key) => (
              <li>
                <KeyName name={key.name} />{" "}
                <span class="faint">
                  <span class="mono">sk-…{key.last4}</span>, revoked {date(key.revoked!)}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function KeyName({ name }: { name: string }) {
  if (!name.startsWith(BROWSER)) return <span class="strong">{name}</span>;
  return (
    <span class="row-tight">
      <span class="strong">{name.slice(BROWSER.length)}</span>
      <Badge kind="info">browser sign-in</Badge>
      <span class="sr-only">(key {name})</span>
    </span>
  );
}

/** With scripts the browser asks; without, the question is here and wants one click more. */
function RevokeForm({ c, apiKey }: { c: SiteContext; apiKey: ApiKey }) {
  return (
    <details class="confirm">
      <summary class="button button-small button-danger-quiet">
        Revoke <span class="sr-only">{apiKey.name}</span>
      </summary>
      <div class="confirm-body">
        <p>
          Programs that use <strong>{apiKey.name}</strong>{" "}
          fail at once, everywhere. This cannot be undone.
        </p>
        <Form c={c} action={`/console/keys/${apiKey.id}/revoke`} class="row">
          <button type="submit" class="button button-small button-danger">
            Revoke {apiKey.name}
          </button>
        </Form>
      </div>
    </details>
  );
}
