import type { ApiError } from "../../lib/api_error.ts";
import { errorStatus } from "../../http/error_status.ts";
import { sendConsole } from "../console/shell.tsx";
import type { SiteContext } from "../context.ts";
import { sendHtmlPage } from "../layout.tsx";
import { sendSiteJson } from "../respond.ts";

const TITLES: Readonly<Record<number, string>> = {
  403: "Request not accepted",
  404: "Page not found",
  413: "Request too large",
  429: "Too many requests",
  503: "Temporarily unavailable",
};

/** An error as a page for browsers; for scripts, the error body that the API has. */
export function sendErrorPage(c: SiteContext, apiError: ApiError): Response {
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
  // The error may have happened before the session was loaded.
  if (c.var.signedIn === undefined) {
    c.set("signedIn", null);
    c.set("csrf", "");
    c.set("flash", null);
  }
  const title = TITLES[status] ?? (status < 500 ? "Request failed" : "Something went wrong");
  const isInConsole = c.var.signedIn !== null && c.req.path.startsWith("/console");
  const content = (
    <div class="stack error-page">
      <p class="error-status mono">{status}</p>
      <h1>{title}</h1>
      <p class="soft">{message}</p>
      <div class="row">
        {c.var.signedIn === null
          ? <a class="button button-primary" href="/">Back to home</a>
          : <a class="button button-primary" href="/console">Back to console</a>}
        <a class="button button-quiet" href="/docs">Read the docs</a>
      </div>
      {status >= 500 && (
        <p class="small faint">
          If this persists, contact support with the request ID <code>{c.env.requestId}</code>
        </p>
      )}
    </div>
  );
  return isInConsole
    ? sendConsole(c, { section: null, title, status }, content)
    : sendHtmlPage(c, { title, status, width: "narrow" }, content);
}
