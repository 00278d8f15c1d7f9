import type { ApiKey } from "../../domain/accounts/api_keys.ts";
import {
  GRANT_SECONDS,
  type GrantRequest,
  keyNameOf,
} from "../../domain/accounts/browser_grants.ts";
import { personOf, type SiteContext } from "../context.ts";
import { sendHtmlPage } from "../layout.tsx";
import { CsrfField, Form, Notice } from "../parts.tsx";
import { type ConnectFault, connectQuery } from "./connect_request.ts";

/** What the person is asked before a program gets a key. */
export function consentPage(
  c: SiteContext,
  request: GrantRequest,
  present: ApiKey | null,
): Response {
  const { client, redirectUri } = request;
  const person = personOf(c);
  const { host, origin } = new URL(redirectUri);
  return sendHtmlPage(
    c,
    // The answer to this form leads to the program's own address.
    { title: `Connect ${client}`, width: "narrow", reach: { form: origin } },
    <div class="stack">
      <h1>
        Give <span class="client-name">{client}</span> an API key?
      </h1>
      <p class="soft">
        A program on this computer asks to use {c.env.config.service.name} as{" "}
        <strong>{person.email}</strong>.
      </p>
      <div class="card stack">
        <ul class="consent-list">
          <li>
            A key named <code>{keyNameOf(client)}</code>{" "}
            is made and handed to the program that listens at <code>{host}</code> on this computer.
          </li>
          <li>Whoever has the key can call the API, and spends your account's balance.</li>
          {present !== null && (
            <li>
              The key it had until now (<code>…{present.last4}</code>) stops working at once.
            </li>
          )}
          <li>
            You can revoke it at any time in the <a href="/console/keys">console</a>.
          </li>
        </ul>
        <Form c={c} action="/connect/browser-auth" class="consent-buttons">
          <input type="hidden" name="request" value={connectQuery(request)} />
          <button class="button" type="submit" name="decision" value="deny">Refuse</button>
          <button class="button button-primary" type="submit" name="decision" value="allow">
            Allow
          </button>
        </Form>
      </div>
      <p class="small faint">
        Refuse if you did not just start this yourself: the name above is what the program calls
        itself, and nobody has checked it.
      </p>
    </div>,
  );
}

/** After consent. Its script delivers; without scripts, or when that fails, the button does. */
export function resultPage(c: SiteContext, grant: GrantRequest, ticket: string): Response {
  const { client } = grant;
  const { origin, host } = new URL(grant.redirectUri);
  return sendHtmlPage(
    c,
    {
      title: `${client} is connected`,
      width: "narrow",
      scripts: ["deliver"],
      reach: { connect: origin, form: origin },
    },
    <div class="stack" id="delivery" data-seconds={GRANT_SECONDS}>
      <p class="success-mark" aria-hidden="true">✓</p>
      <h1>
        <span class="client-name">{client}</span> is authorized
      </h1>
      <div class="only-scripted" aria-live="polite">
        <p data-state="sending">Handing the key to the program at {host} …</p>
        <p data-state="sent" hidden>
          The key has arrived. You can close this page and go back to <strong>{client}</strong>.
        </p>
        <div data-state="failed" hidden>
          <Notice kind="warn">
            The program did not answer. Your browser may have kept this page from reaching programs
            on this computer: send the key with the button below.
          </Notice>
        </div>
        <div data-state="late" hidden>
          <Notice kind="warn">
            Too much time has passed, and the key was put away. Start again from {client}.
          </Notice>
        </div>
      </div>
      <p class="only-unscripted">One step is left: send the key to the program.</p>
      <div class="card stack" data-manual>
        <h2>Got nothing in {client}?</h2>
        <p class="soft small">
          This opens {host} in this window, with the key. It works for a minute.
        </p>
        <form
          method="post"
          action="/connect/browser-auth/send"
          data-deliver
          referrerpolicy="no-referrer"
        >
          <CsrfField c={c} />
          <input type="hidden" name="ticket" value={ticket} />
          <button class="button" type="submit" name="way" value="page">Send it by redirect</button>
        </form>
      </div>
    </div>,
  );
}

export function expiredPage(c: SiteContext): Response {
  return sendHtmlPage(
    c,
    { title: "This is over", width: "narrow", status: 410 },
    <div class="stack">
      <h1>This authorization is over</h1>
      <p class="soft">
        A key waits for a minute and is handed over once. If your program did not get it, start
        again from there: it will get a new one.
      </p>
      <div class="row">
        <a class="button" href="/console/keys">Look at your keys</a>
      </div>
    </div>,
  );
}

/** Nothing is ever sent to an address that is not in order: what is wrong is said here. */
export function faultPage(c: SiteContext, faults: readonly ConnectFault[]): Response {
  return sendHtmlPage(
    c,
    { title: "This request cannot work", width: "narrow", status: 400 },
    <div class="stack">
      <h1>This request cannot work</h1>
      <p class="soft">
        A program opened this page to be given an API key, but asked for it in a wrong way. No key
        was made. Tell its author:
      </p>
      <ul class="card fault-list">
        {faults.map(({ parameter, text }) => (
          <li>
            <code>{parameter}</code> {text}
          </li>
        ))}
      </ul>
      <p class="small">
        <a href="/docs/browser-authorization">How browser authorization works</a>
      </p>
    </div>,
  );
}
