import type { SiteContext } from "../context.ts";

import { CodeBox } from "../parts.tsx";
import { baseUrlOf, siteOrigin } from "../base_url.ts";
import { sendDocs } from "./shell.tsx";

const PARAMETERS = [
  ["client", "2 to 64 letters, digits, dots, underscores and hyphens. Names the key: BA:<client>."],
  ["response_type", "api_key"],
  [
    "redirect_uri",
    "http://127.0.0.1:<port>/callback or http://localhost:<port>/callback, percent-encoded. Any port.",
  ],
  ["state", "A random text. It comes back unchanged; refuse an answer with another."],
] as const;

/** GET /docs/browser-authorization: how a terminal or desktop program gets a key. */
export function browserAuthorizationGuide(c: SiteContext): Response {
  const site = siteOrigin(c);
  return sendDocs(
    c,
    { title: "Browser authorization" },
    <>
      <section>
        <h1>Browser authorization</h1>
        <p class="soft">
          A program on a person's own computer can ask for a key in the browser, so that nobody has
          to copy one. Any program may: what protects the person is that the key only ever goes to
          their own computer, and only after they have signed in and agreed.
        </p>
      </section>
      <section aria-labelledby="flow">
        <h2 id="flow">How it goes</h2>
        <ol>
          <li>
            Listen on the loopback address, at a free port, for <code>/callback</code>.
          </li>
          <li>Open the entry address in the person's browser.</li>
          <li>The person signs in, reads what is asked, and allows or refuses it.</li>
          <li>
            The browser calls your address: with <code>api_key</code> and{" "}
            <code>state</code>, or with <code>error=access_denied</code> and <code>state</code>.
          </li>
          <li>
            Compare <code>state</code>, keep the key, and try it with <code>GET /models</code>.
          </li>
        </ol>
        <CodeBox
          id="connect-entry"
          title="The entry address"
          text={`${site}/connect/browser-auth
  ?client=my-terminal
  &response_type=api_key
  &redirect_uri=http%3A%2F%2F127.0.0.1%3A52731%2Fcallback
  &state=qWcN3u0pJm7t`}
        />
      </section>
      <section aria-labelledby="parameters">
        <h2 id="parameters">Parameters</h2>
        <table class="params">
          <tbody>
            {PARAMETERS.map(([name, text]) => (
              <tr>
                <td>
                  <code>{name}</code> <span class="must">required</span>
                </td>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section aria-labelledby="keys">
        <h2 id="keys">The key</h2>
        <ul class="prose-list">
          <li>
            Each <code>client</code> has one key, <code>BA:&lt;client&gt;</code>{" "}
            in the console. Authorizing again replaces it, and the old one stops working at once.
          </li>
          <li>
            Your address is called in the background while the page says that it is done. Answer
            with any status: an answer is what tells the page that you have it.
          </li>
          <li>
            When a browser does not let a page reach local programs, the person can send the key by
            a full redirect. Your address is then opened in their window: answer with a page, or
            better with a redirect to one without the key in its address.
          </li>
          <li>The key waits for a minute. After that, start over.</li>
        </ul>
      </section>
      <section aria-labelledby="example">
        <h2 id="example">A whole client</h2>
        <p>
          The source of this gateway has one to copy from, <code>scripts/connect.ts</code>:
        </p>
        <CodeBox
          id="connect-run"
          title="Shell"
          text={`deno run -A scripts/connect.ts --site ${site} --client my-terminal
curl ${baseUrlOf(c)}/models -H "Authorization: Bearer $TOLLGATE_API_KEY"`}
        />
      </section>
    </>,
  );
}
