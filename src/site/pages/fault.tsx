import type { ApiError } from "../../lib/api_error.ts";
import { errorStatus } from "../../http/error_status.ts";
import type { SiteContext } from "../context.ts";
import { sendHtmlPage } from "../layout.tsx";
import { sendSiteJson } from "../respond.ts";

const TITLES: Readonly<Record<number, string>> = {
  403: "That was not accepted",
  404: "Nothing here",
  413: "Too large",
  429: "Slow down a little",
  503: "Back in a moment",
};

/** What went wrong: a page for people; for scripts, the error body the API has. */
export function sendFault(c: SiteContext, apiError: ApiError): Response {
  const response = c.req.header("accept")?.includes("text/html")
    ? page(c, apiError)
    : json(c, apiError);
  if (apiError.retryAfterSeconds !== undefined) {
    response.headers.set("retry-after", String(apiError.retryAfterSeconds));
  }
  return response;
}

function json(c: SiteContext, apiError: ApiError): Response {
  const { message, type, param, code } = apiError;
  return sendSiteJson(
    { error: { message, type, param, code }, request_id: c.env.requestId },
    errorStatus(apiError),
  );
}

function page(c: SiteContext, apiError: ApiError): Response {
  const { message } = apiError;
  const status = errorStatus(apiError);
  // It may have failed before anybody knew who is looking.
  if (c.var.signedIn === undefined) {
    c.set("signedIn", null);
    c.set("csrf", "");
    c.set("flash", null);
  }
  const title = TITLES[status] ?? (status < 500 ? "That did not work" : "Something went wrong");
  return sendHtmlPage(
    c,
    { title, status, width: "narrow" },
    <div class="stack fault-page">
      <p class="fault-status mono">{status}</p>
      <h1>{title}</h1>
      <p class="soft">{message}</p>
      <div class="row">
        <a class="button button-primary" href="/">Go to the start</a>
        <a class="button button-quiet" href="/docs">Read the docs</a>
      </div>
      {status >= 500 && (
        <p class="small faint">
          If it stays, report this request: <code>{c.env.requestId}</code>
        </p>
      )}
    </div>,
  );
}
