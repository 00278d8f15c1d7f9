import { formatDecimal, roundUp } from "../../base/money.ts";
import { Refusal } from "../../base/refusal.ts";
import { checkRequest } from "../../chat/check_request.ts";
import type { Model, Plan, Route } from "../../config/plan.ts";
import { quoteRequest as quoteDramaRequest } from "../../dramas/accept_drama.ts";
import type { DramaBody } from "../../dramas/check_drama.ts";
import { identify } from "../../idempotency/key.ts";
import { covers } from "../../ledger/balance.ts";
import type { Quote } from "../../pricing/quote.ts";
import { snapshotOf } from "../../pricing/snapshot.ts";
import type { Usage } from "../../pricing/usage.ts";
import { worstCase } from "../../pricing/worst_case.ts";
import { checkSpeech, type SpeechBody } from "../../speech/check_speech.ts";
import { quoteFor } from "../../tasks/accept_generation.ts";
import { checkGeneration } from "../../tasks/check_generation.ts";
import type { Database } from "../../store/database.ts";
import { bodySchema } from "../body_schema.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import { chatRequest } from "./chat_completions.ts";
import { callOf, modelOf, notReleased } from "./create_generation.ts";
import { GENERATION_REQUESTS, SPEECH_REQUEST } from "./generation_requests.ts";
import type { TaskEndpointDeps } from "./tasks.ts";
import schema from "../../../schemas/requests/quotes.schema.json" with { type: "json" };

const quoteRequest = bodySchema<{ path: string; body: Record<string, unknown> }>(schema);

/** POST /v1/quotes: what a request would cost at the most, and whether the balance covers it. */
export function createQuote(deps: TaskEndpointDeps & { database: Database }): Endpoint {
  return async function createQuote(c) {
    const { path, body } = quoteRequest(await readJson(c));
    const { plan } = c.env;
    const route = pricedRoute(plan, path);
    const { model, most, quoted } = await quotedFor(deps, c, route, body);
    const scale = plan.service.currencyScale;
    return sendJson(JSON.stringify({
      object: "quote",
      path: route.path,
      model: model.id,
      currency: plan.service.currency,
      amount: formatDecimal(roundUp(quoted.amount, scale)),
      usage: most,
      price: snapshotOf(quoted.price),
      covered: await covers(deps.database.sql, accountOf(c).id, quoted, scale),
    }));
  };
}

interface Quoted {
  model: Model;
  most: Usage;
  quoted: Quote;
}

/** Refused as the endpoint itself would refuse it. */
async function quotedFor(
  deps: TaskEndpointDeps,
  c: HttpContext,
  route: Route,
  body: unknown,
): Promise<Quoted> {
  if (route.operation === "chat") return quotedChat(c, route, body);
  const request = route.operation === "speech"
    ? SPEECH_REQUEST
    : GENERATION_REQUESTS.get(route.request ?? "");
  if (request === undefined) throw notReleased(route);
  const checked = request.check(body);
  // Left out it is no fault here: a header may say it, and a quote has none of the request's.
  if (typeof checked.business_id === "string") {
    identify(checked.business_id, route.path, checked, "business_id");
  }
  const model = modelOf(c, checked.model, route);
  const call = callOf(c, null, checked.callback_url);
  if (model.type === "drama") {
    const drama = checked as unknown as DramaBody;
    const { quote } = await quoteDramaRequest(deps.tasks, call, model, drama);
    return { model, most: worstCase(model, checked), quoted: quote };
  }
  const { most } = model.type === "speech"
    ? checkSpeech(model, checked as unknown as SpeechBody)
    : await checkGeneration(deps.tasks.files, call.plan, call.account.id, model, checked);
  return { model, most, quoted: quoteFor(call.plan, call.account, model, most) };
}

function quotedChat(c: HttpContext, route: Route, body: unknown): Quoted {
  const request = chatRequest(body);
  const model = modelOf(c, request.model, route);
  checkRequest(model, request, c.env.plan.outbound);
  const most = worstCase(model, request);
  return { model, most, quoted: quoteFor(c.env.plan, accountOf(c), model, most) };
}

const PRICED = new Set(["chat", "speech", "generation"]);

function pricedRoute(plan: Plan, path: string): Route {
  const wanted = path.replace(/^\/v1(?=\/)/, "");
  const route = plan.routes.find((route) => route.path === wanted && PRICED.has(route.operation));
  if (route?.stage === "planned") throw notReleased(route);
  if (route !== undefined) return route;
  const known = plan.routes.filter(({ operation }) => PRICED.has(operation)).map((route) =>
    route.path
  );
  throw new Refusal("invalid_value", `path must be one of ${known.join(", ")}.`, { param: "path" });
}
