import { z } from "zod";
import { stashText } from "../../domain/accounts/session_stash.ts";
import type { PricedAccount } from "../../domain/pricing/find_price.ts";
import { ApiError } from "../../lib/api_error.ts";
import { newSecret } from "../../lib/ids.ts";
import { isPipeline } from "../../model_types/model_types.ts";
import { extensionOf } from "../../domain/files/media_types.ts";
import type { SiteContext } from "../context.ts";
import { readSiteForm } from "../form.ts";
import { formError } from "../form_error.ts";
import { formatMoney } from "../format.ts";
import { seeOther, sendSiteJson } from "../respond.ts";
import { sessionSecretOf } from "../visitor.ts";
import { callApiAs, pricedAccountOf } from "./account.ts";
import { type Offer, offerOf, routeOf } from "./catalogue.ts";
import type { ConsoleDeps } from "./deps.ts";
import { sendModel } from "./model.tsx";
import { messagesOf } from "./playground/conversation.ts";
import { bodyOf, FORMS } from "./playground/forms.ts";
import type { Body, Fields } from "./playground/fields.ts";

const API_PREFIX = "/console/api/";

const ChatResponse = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).min(1),
});
const TaskResponse = z.object({ id: z.string() });
const ErrorResponse = z.object({
  error: z.object({ message: z.string(), param: z.string().nullish() }),
});
const QuoteResponse = z.object({ amount: z.string(), covered: z.boolean() });

/**
 * POST /console/models/{id}/run: runs the model as the session's account. A script gets the API's own
 * response, streamed where it streams; a browser without scripts is redirected to a page with the result.
 */
export function runModel(deps: ConsoleDeps) {
  return async function runModel(c: SiteContext): Promise<Response> {
    const isPage = c.req.header("accept")?.includes("text/html") ?? false;
    const fields = await readSiteForm(c);
    const { account, offer, route } = await findOffer(deps, c);
    const body = bodyOf(offer.model, fields);
    const { result, labels } = FORMS[offer.model.type];
    if (result === "message" && !isPage && offer.model.capabilities.has("streaming")) {
      body.stream = true;
      body.stream_options = { include_usage: true };
    }
    if (isPipeline(offer.model.type)) body.business_id ??= `console-${newSecret().slice(0, 20)}`;
    const response = await postToApi(deps, c, route, body);
    if (!isPage) return response;
    if (!response.ok) {
      const { error } = ErrorResponse.parse(await response.json());
      const { message } = formError({ ...error, param: error.param ?? null }, labels);
      return sendModel(c, account, offer, { fields, error: message, status: response.status });
    }
    return await sendResult(deps, c, { offer, fields, response });
  };
}

/** The result of a form that was sent without scripts. */
async function sendResult(
  { database }: ConsoleDeps,
  c: SiteContext,
  { offer, fields, response }: { offer: Offer; fields: Fields; response: Response },
): Promise<Response> {
  switch (FORMS[offer.model.type].result) {
    case "message": {
      const { choices } = ChatResponse.parse(await response.json());
      const content = choices[0]!.message.content ?? "";
      const { system: _, ...said } = fields;
      const history = [...messagesOf(said), { role: "assistant", content }];
      const text = JSON.stringify(history);
      const ticket = await stashText(database.sql, sessionSecretOf(c), text);
      const path = `/console/models/${encodeURIComponent(offer.model.id)}`;
      return seeOther(`${path}?${new URLSearchParams({ conversation: ticket })}`);
    }
    case "file": {
      const extension = extensionOf(response.headers.get("content-type") ?? "");
      return asDownload(response, `${offer.model.type}.${extension}`);
    }
    case "vectors":
      return asDownload(response, `${offer.model.type}.json`);
    case "task":
      return seeOther(`/console/tasks/${TaskResponse.parse(await response.json()).id}`);
  }
}

function asDownload(response: Response, name: string): Response {
  response.headers.set("content-disposition", `attachment; filename="${name}"`);
  return response;
}

/** POST /console/models/{id}/quote: the maximum cost of the form as it stands. */
export function quoteModel(deps: ConsoleDeps) {
  return async function quoteModel(c: SiteContext): Promise<Response> {
    const fields: Fields = await readSiteForm(c);
    const { offer, route } = await findOffer(deps, c);
    // A chat has a maximum before anything is typed: that of the longest response.
    const isEmpty = FORMS[offer.model.type].result === "message" && (fields.prompt ?? "") === "";
    const body = bodyOf(offer.model, isEmpty ? { ...fields, prompt: " " } : fields);
    const response = await postToApi(deps, c, "/quotes", { path: route, body });
    if (!response.ok) return sendSiteJson({ text: "" });
    const quote = QuoteResponse.parse(await response.json());
    const amount = formatMoney(quote.amount, c.env.config.service);
    return sendSiteJson({
      text: quote.covered
        ? `Estimated maximum: ${amount}`
        : `Estimated maximum: ${amount}, more than your balance`,
      covered: quote.covered,
    });
  };
}

/** Anything under /console/api/: the API as the session's account, for the site's own scripts. */
export function proxyApi(deps: ConsoleDeps) {
  return async function proxyApi(c: SiteContext): Promise<Response> {
    const url = new URL(c.req.url);
    // A path with dots may resolve to a place outside of the prefix.
    if (!url.pathname.startsWith(API_PREFIX)) return await c.notFound();
    url.pathname = `/v1/${url.pathname.slice(API_PREFIX.length)}`;
    const headers = new Headers();
    for (const name of ["content-type", "content-length", "accept", "prefer", "range"]) {
      const value = c.req.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    const { method, raw } = c.req;
    const request = new Request(url, { method, headers, body: raw.body, signal: raw.signal });
    return withoutCache(await callApiAs(deps, c, request));
  };
}

async function findOffer(
  deps: ConsoleDeps,
  c: SiteContext,
): Promise<{ account: PricedAccount; offer: Offer; route: string }> {
  const { config } = c.env;
  const account = await pricedAccountOf(c, deps);
  const offer = offerOf(config, account, c.req.param("id") ?? "");
  const route = routeOf(config, offer.model.type);
  if (route === null) {
    throw new ApiError("endpoint_not_released", "Models of this type are not available yet.");
  }
  return { account, offer, route };
}

async function postToApi(
  deps: ConsoleDeps,
  c: SiteContext,
  route: string,
  body: Body,
): Promise<Response> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const request = new Request(new URL(`/v1${route}`, c.req.url), {
    method: "POST",
    // No server adds it here, and a body of unknown length counts as a large one.
    headers: { "content-type": "application/json", "content-length": String(bytes.length) },
    body: bytes,
    signal: c.req.raw.signal,
  });
  return withoutCache(await callApiAs(deps, c, request));
}

/** Responses contain data of the account: no cache may keep them. */
function withoutCache(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("cache-control", "private, no-store");
  headers.set("x-content-type-options", "nosniff");
  // The response of the page gets the same id.
  headers.delete("x-request-id");
  return new Response(response.body, { status: response.status, headers });
}
