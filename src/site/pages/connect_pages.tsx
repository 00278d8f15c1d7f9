import type { ApiKey } from "../../domain/accounts/api_keys.ts";
import {
  GRANT_SECONDS,
  type GrantRequest,
  keyNameOf,
} from "../../domain/accounts/browser_grants.ts";
import { personOf, type SiteContext } from "../context.ts";
import { sendHtmlPage } from "../layout.tsx";
import { formatRoundDuration } from "../format.ts";
import { CsrfField, Form, Notice } from "../parts.tsx";
import { type ConnectError, connectQuery } from "./connect_request.ts";

/** Asks for consent before a program gets a key. */
export function consentPage(
  c: SiteContext,
  request: GrantRequest,
  existing: ApiKey | null,
): Response {
  const { client, redirectUri } = request;
  const person = personOf(c);
  const { host, origin } = new URL(redirectUri);
  return sendHtmlPage(
    c,
    // The response to this form redirects to the program.
    { title: `Connect ${client}`, width: "narrow", reach: { form: origin } },
    <div class="stack">
      <h1>
        Give <span class="client-name">{client}</span> an API key?
      </h1>
      <p class="soft">
        A program on this computer wants to use {c.env.config.service.name} as{" "}
        <strong>{person.email}</strong>.
      </p>
      <div class="card stack">
        <ul class="consent-list">
          <li>
            A key named <code>{keyNameOf(client)}</code>{" "}
            is created and sent to the program listening on <code>{host}</code> on this computer.
          </li>
          <li>The key can send API requests and spend your account's balance.</li>
          {existing !== null && (
            <li>
              Its current key (<code>…{existing.last4}</code>) stops working immediately.
            </li>
          )}
          <li>
            You can revoke it at any time in the <a href="/console/keys">console</a>.
          </li>
        </ul>
        <Form c={c} action="/connect/browser-auth" class="consent-buttons">
          <input type="hidden" name="request" value={connectQuery(request)} />
          <button class="button" type="submit" name="decision" value="deny">Deny</button>
          <button class="button button-primary" type="submit" name="decision" value="allow">
            Allow
          </button>
        </Form>
      </div>
      <p class="small faint">
        Deny if you did not start this yourself. The name above is provided by the program and has
        not been verified.
      </p>
    </div>,
  );
}

/** After consent. The script delivers the key; without scripts, or when that fails, the button does. */
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
        <p data-state="sending">Sending the key to {host} …</p>
        <p data-state="sent" hidden>
          Key delivered. You can close this page and return to <strong>{client}</strong>.
        </p>
        <div data-state="failed" hidden>
          <Notice kind="warn">
            The program did not respond. Your browser may block this page from reaching programs on
            this computer. Use the button below to send the key.
          </Notice>
        </div>
        <div data-state="late" hidden>
          <Notice kind="warn">
            This authorization has expired. Start again from {client}.
          </Notice>
        </div>
      </div>
      <p class="only-unscripted">One step left: send the key to the program.</p>
      <div class="card stack" data-manual>
        <h2>No key in {client}?</h2>
        <p class="soft small">
          This opens {host} in this window with the key. It works for{" "}
          {formatRoundDuration(GRANT_SECONDS)}.
        </p>
        <form
          method="post"
          action="/connect/browser-auth/send"
          data-deliver
          referrerpolicy="no-referrer"
        >
          <CsrfField c={c} />
          <input type="hidden" name="ticket" value={ticket} />
          <button class="button" type="submit" name="way" value="page">Send by redirect</button>
        </form>
      </div>
    </div>,
  );
}

export function expiredPage(c: SiteContext): Response {
  return sendHtmlPage(
    c,
    { title: "Authorization expired", width: "narrow", status: 410 },
    <div class="stack">
      <h1>Authorization expired</h1>
      <p class="soft">
        A key can be delivered once, within{" "}
        {formatRoundDuration(GRANT_SECONDS)}. If your program did not receive it, start again from
        there to get a new one.
      </p>
      <div class="row">
        <a class="button" href="/console/keys">View API keys</a>
      </div>
    </div>,
  );
}

/** An invalid request is explained here: nothing is sent to an unchecked redirect URI. */
export function invalidRequestPage(c: SiteContext, errors: readonly ConnectError[]): Response {
  return sendHtmlPage(
    c,
    { title: "Invalid request", width: "narrow", status: 400 },
    <div class="stack">
      <h1>Invalid request</h1>
      <p class="soft">
        A program opened this page to get an API key, but sent an invalid request. No key was
        created. Tell its author:
      </p>
      <ul class="card connect-errors">
        {errors.map(({ parameter, text }) => (
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
