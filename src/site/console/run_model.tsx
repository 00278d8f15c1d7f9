import { ApiError } from "../../lib/api_error.ts";
import { newSecret } from "../../lib/ids.ts";
import { readSiteForm } from "../form.ts";
import type { SiteContext } from "../context.ts";
import { seeOther, sendSiteJson } from "../respond.ts";
import { callApiAs, pricedAccountOf } from "./account.ts";
import { offerOf, routeOf } from "./catalogue.ts";
import type { ConsoleDeps } from "./deps.ts";
import { money } from "./format.ts";
import { sendModel } from "./model.tsx";
import { type Body, bodyOf, type Fields } from "./playground_body.ts";

const BELOW = "/console/api/";

/**
 * POST /console/models/{id}/run: calls the model as the session's account. For a script the API's own
 * answer, streamed where it streams; for a browser without scripts a page, or the way to the task.
 */
export function runModel(deps: ConsoleDeps) {
  return async function runModel(c: SiteContext): Promise<Response> {
    const isPage = c.req.header("accept")?.includes("text/html") ?? false;
    const fields = await readSiteForm(c);
    const { offer, route } = await offered(deps, c);
    const body = bodyOf(offer.model, fields);
    if (offer.model.type === "chat" && !isPage && offer.model.capabilities.has("streaming")) {
      body.stream = true;
      body.stream_options = { include_usage: true };
    }
    if (offer.model.type === "drama") body.business_id ??= `console-${newSecret().slice(0, 20)}`;
    const answer = await call(deps, c, route, body);
    if (!isPage) return answer;
    if (!answer.ok) {
      const fault = (await readError(answer)).message;
      return sendModel(c, offer, { fields, fault, status: answer.status });
    }
    if (offer.model.type === "chat") {
      const { choices } = await answer.json() as { choices: [{ message: { content: string } }] };
      return sendModel(c, offer, { fields, answer: choices[0].message.content ?? "" });
    }
    if (offer.model.type === "speech") return answer;
    const { id } = await answer.json() as { id: string };
    return seeOther(`/console/tasks/${id}`);
  };
}

/** POST /console/models/{id}/quote: what it would cost at the most, as the form stands. */
export function quoteModel(deps: ConsoleDeps) {
  return async function quoteModel(c: SiteContext): Promise<Response> {
    const fields: Fields = await readSiteForm(c);
    const { offer, route } = await offered(deps, c);
    // A conversation has a price before its first word: that of the longest answer.
    const isSilent = offer.model.type === "chat" && (fields.prompt ?? "") === "";
    const body = bodyOf(offer.model, isSilent ? { ...fields, prompt: " " } : fields);
    const answer = await call(deps, c, "/quotes", { path: route, body });
    if (!answer.ok) return sendSiteJson({ text: "" });
    const quote = await answer.json() as { amount: string; covered: boolean };
    const amount = money(quote.amount, c.env.config.service.currency);
    return sendSiteJson({
      text: quote.covered
        ? `At most ${amount}`
        : `At most ${amount}, more than your balance covers`,
      covered: quote.covered,
    });
  };
}

/** Anything under /console/api/: the API itself, as the session's account; for the site's own scripts. */
export function callApi(deps: ConsoleDeps) {
  return async function callApi(c: SiteContext): Promise<Response> {
    const url = new URL(c.req.url);
    // Read whole, an address with dots in it may lead out of here again.
    if (!url.pathname.startsWith(BELOW)) return await c.notFound();
    url.pathname = `/v1/${url.pathname.slice(BELOW.length)}`;
    const headers = new Headers();
    for (const name of ["content-type", "content-length", "accept", "prefer", "range"]) {
      const value = c.req.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    const { method, raw } = c.req;
    const request = new Request(url, { method, headers, body: raw.body, signal: raw.signal });
    return privately(await callApiAs(deps, c, request));
  };
}

async function offered(deps: ConsoleDeps, c: SiteContext) {
  const { config } = c.env;
  const offer = offerOf(config, await pricedAccountOf(c, deps), c.req.param("id") ?? "");
  const route = routeOf(config, offer.model.type);
  if (route === null) {
    throw new ApiError("endpoint_not_released", "Models of this type cannot be called yet.");
  }
  return { offer, route };
}

async function call(
  deps: ConsoleDeps,
  c: SiteContext,
  route: string,
  body: Body,
): Promise<Response> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const request = new Request(new URL(`/v1${route}`, c.req.url), {
    method: "POST",
    // Said here, where no server does: a body of unknown length may be a large one.
    headers: { "content-type": "application/json", "content-length": String(bytes.length) },
    body: bytes,
    signal: c.req.raw.signal,
  });
  return privately(await callApiAs(deps, c, request));
}

/** What a person sees of their account is kept by no cache. */
function privately(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("cache-control", "private, no-store");
  headers.set("x-content-type-options", "nosniff");
  // The page's own answer gets the same one.
  headers.delete("x-request-id");
  return new Response(response.body, { status: response.status, headers });
}

async function readError(answer: Response): Promise<{ message: string; code: string | null }> {
  const { error } = await answer.json() as { error: { message: string; code: string | null } };
  return error;
}
