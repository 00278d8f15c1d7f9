import { formatDecimal, roundUp } from "../../lib/money.ts";
import { ApiError } from "../../lib/api_error.ts";
import { prepareChat } from "../../workflows/chat/prepare_chat.ts";
import type { Config, Model, Route } from "../../platform/config/config.ts";
import { quoteRequest as quoteDramaRequest } from "../../workflows/dramas/accept_drama.ts";
import type { DramaBody } from "../../workflows/dramas/check_drama.ts";
import { identifyRequest } from "../../domain/idempotency/key.ts";
import { covers } from "../../domain/ledger/balance.ts";
import type { Quote } from "../../domain/pricing/quote.ts";
import { snapshotOf } from "../../domain/pricing/snapshot.ts";
import type { Usage } from "../../model_types/usage.ts";
import { isPipeline } from "../../model_types/model_types.ts";
import { quoteFor } from "../../workflows/tasks/accept_generation.ts";
import { checkGeneration } from "../../workflows/tasks/check_generation.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { bodySchema } from "../body_schema.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import { chatRequest } from "./chat_completions.ts";
import { callOf, notReleased, requestedModel } from "./create_generation.ts";
import { GENERATION_REQUESTS, SPEECH_REQUEST } from "./generation_requests.ts";
import type { TaskEndpointDeps } from "./tasks.ts";
import schema from "../../../schemas/requests/quotes.schema.json" with { type: "json" };

const quoteRequest = bodySchema<{ path: string; body: Record<string, unknown> }>(schema);

interface QuoteDeps extends TaskEndpointDeps {
  database: Database;
  upstreams: Upstreams;
}

/** POST /v1/quotes: the maximum cost of a request, and whether the balance covers it. */
export function createQuote(deps: QuoteDeps): Endpoint {
  return async function createQuote(c) {
    const { path, body } = quoteRequest(await readJson(c));
    const { config } = c.env;
    const route = pricedRoute(config, path);
    const { model, most, quoted } = await quotedFor(deps, c, route, body);
    const scale = config.service.currencyScale;
    return sendJson(JSON.stringify({
      object: "quote",
      path: route.path,
      model: model.id,
      currency: config.service.currency,
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

/** Raises the same errors as the endpoint itself. */
async function quotedFor(
  deps: QuoteDeps,
  c: HttpContext,
  route: Route,
  body: unknown,
): Promise<Quoted> {
  if (route.operation === "chat") return quotedChat(deps.upstreams, c, route, body);
  const request = route.operation === "speech"
    ? SPEECH_REQUEST
    : GENERATION_REQUESTS.get(route.request ?? "");
  if (request === undefined) throw notReleased(route);
  const checked = request.check(body);
  // May be absent here: the request itself may send it as a header.
  if (typeof checked.business_id === "string") {
    identifyRequest(checked.business_id, route.path, checked, "business_id");
  }
  const model = requestedModel(c, checked.model, route);
  const call = callOf(c, null, checked.callback_url);
  if (isPipeline(model.type)) {
    const drama = checked as unknown as DramaBody;
    const { quote, maxUsage } = await quoteDramaRequest(deps.tasks, call, model, drama);
    return { model, most: maxUsage, quoted: quote };
  }
  const { maxUsage: most } = await checkGeneration({
    files: deps.tasks.files,
    config: call.config,
    account: call.account.id,
    model,
    body: checked,
  });
  return { model, most, quoted: quoteFor(call.config, call.account, model, most) };
}

function quotedChat(upstreams: Upstreams, c: HttpContext, route: Route, body: unknown): Quoted {
  const request = chatRequest(body);
  const model = requestedModel(c, request.model, route);
  const { maxUsage: most } = prepareChat(upstreams, c.env.config, model, request);
  return { model, most, quoted: quoteFor(c.env.config, accountOf(c), model, most) };
}

const PRICED = new Set(["chat", "speech", "generation"]);

function pricedRoute(config: Config, path: string): Route {
  const wanted = path.replace(/^\/v1(?=\/)/, "");
  const route = config.routes.find((route) => route.path === wanted && PRICED.has(route.operation));
  if (route?.stage === "planned") throw notReleased(route);
  if (route !== undefined) return route;
  const known = config.routes.filter(({ operation }) => PRICED.has(operation)).map((route) =>
    route.path
  );
  throw new ApiError("invalid_value", `path must be one of ${known.join(", ")}.`, {
    param: "path",
  });
}
