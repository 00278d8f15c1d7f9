import { apiErrorTable } from "../../http/error_status.ts";
import type { SiteContext } from "../context.ts";
import { CodeBox } from "../parts.tsx";
import { sendDocs } from "./shell.tsx";

const BODY = `{
  "error": {
    "message": "The balance does not cover this request, which may cost up to 0.08 USD: recharge or change plan.",
    "type": "insufficient_quota",
    "param": null,
    "code": "insufficient_balance"
  },
  "request_id": "req_01k…"
}`;

/** GET /docs/errors: what can go wrong, and what it means for money. */
export function errorsGuide(c: SiteContext): Response {
  const rows = apiErrorTable().toSorted((a, b) => a.status - b.status);
  return sendDocs(
    c,
    { title: "Errors, limits, money" },
    <>
      <section>
        <h1>Errors, limits, money</h1>
        <p class="soft">
          The HTTP status says what happened; the body says why and what to do. Messages are for
          people and may change, codes stay.
        </p>
        <CodeBox id="error-body" title="An error" text={BODY} />
      </section>
      <section aria-labelledby="retry">
        <h2 id="retry">What to retry</h2>
        <ul class="prose-list">
          <li>
            429 and 503: wait as long as <code>Retry-After</code>{" "}
            says, then try again. Official SDKs do it by themselves.
          </li>
          <li>
            500, or no answer at all: try again with the same <code>Idempotency-Key</code>.
          </li>
          <li>Other 4xx: change the request first.</li>
          <li>
            A stream that breaks sends one <code>{`data: {"error":…}`}</code> event and no{" "}
            <code>[DONE]</code>: what has no <code>[DONE]</code> is not finished.
          </li>
        </ul>
      </section>
      <section aria-labelledby="rates">
        <h2 id="rates">Rate limits</h2>
        <p>
          Requests and tokens per minute are counted per key, running tasks per account; your plan
          says how many. Every answer tells where you stand: <code>x-ratelimit-limit</code>,{" "}
          <code>x-ratelimit-remaining</code> and{" "}
          <code>x-ratelimit-reset</code>, in seconds. A minute refills evenly, so there is no moment
          to wait for.
        </p>
      </section>
      <section aria-labelledby="money">
        <h2 id="money">Money</h2>
        <p>
          Amounts are decimal strings. Used first is the plan's quota, then gifts by the soonest
          expiry, then cash. Before a model is called the worst case is held; afterwards only what
          was used is charged, and the rest is free again at once. What fails is not charged.
        </p>
      </section>
      <section aria-labelledby="codes">
        <h2 id="codes">Every code</h2>
        <div class="table-box" tabindex={0} role="region" aria-label="Every code">
          <table class="md-table">
            <thead>
              <tr>
                <th scope="col">Status</th>
                <th scope="col">Type</th>
                <th scope="col">Code</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ status, type, code }) => (
                <tr>
                  <td>{status}</td>
                  <td>{type}</td>
                  <td>{code}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </>,
  );
}
