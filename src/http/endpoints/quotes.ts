import { formatDecimal, roundUp } from "../../base/money.ts";
import { Refusal } from "../../base/refusal.ts";
import type { Model, Plan, Route } from "../../config/plan.ts";
import { quoteRequest as quoteDramaRequest } from "../../dramas/accept_drama.ts";
import type { DramaBody } from "../../dramas/check_drama.ts";
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
import { modelOf } from "./create_generation.ts";
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
    if (typeof body.model !== "string") {
      throw new Refusal("missing_field", "The field body.model is missing.", {
        param: "body.model",
      });
    }
    const model = modelOf(c, body.model, route);
    const account = accountOf(c);
    const { most, quoted } = await quotedFor(deps, c, route, model, body);
    const scale = plan.service.currencyScale;
    return sendJson(JSON.stringify({
      object: "quote",
      path: route.path,
      model: model.id,
      currency: plan.service.currency,
      amount: formatDecimal(roundUp(quoted.amount, scale)),
      usage: most,
      price: snapshotOf(quoted.price),
      covered: await covers(deps.database.sql, account.id, quoted, scale),
    }));
  };
}

/** Refused as the endpoint itself would refuse it. */
async function quotedFor(
  deps: TaskEndpointDeps,
  c: HttpContext,
  route: Route,
  model: Model,
  body: Record<string, unknown>,
): Promise<{ most: Usage; quoted: Quote }> {
  const call = { plan: c.env.plan, account: accountOf(c) };
  if (model.type === "drama") {
    const request = GENERATION_REQUESTS.get(route.request!)!;
    const drama = request.check(body) as unknown as DramaBody;
    const { quote } = await quoteDramaRequest(deps.tasks, call, model, drama);
    return { most: worstCase(model, body), quoted: quote };
  }
  const most = await mostOf(deps, c, route, model, body);
  return { most, quoted: quoteFor(call.plan, call.account, model, most) };
}

async function mostOf(
  { tasks }: TaskEndpointDeps,
  c: HttpContext,
  route: Route,
  model: Model,
  body: Record<string, unknown>,
): Promise<Usage> {
  const request = GENERATION_REQUESTS.get(route.request ?? "");
  if (route.operation === "speech") {
    return checkSpeech(model, SPEECH_REQUEST.check(body) as unknown as SpeechBody).most;
  }
  if (request === undefined) return worstCase(model, body);
  const checked = request.check(body);
  return (await checkGeneration(tasks.files, c.env.plan, accountOf(c).id, model, checked)).most;
}

const PRICED = new Set(["chat", "speech", "generation"]);

function pricedRoute(plan: Plan, path: string): Route {
  const wanted = path.replace(/^\/v1(?=\/)/, "");
  const route = plan.routes.find((route) => route.path === wanted && PRICED.has(route.operation));
  if (route !== undefined) return route;
  const known = plan.routes.filter(({ operation }) => PRICED.has(operation)).map((route) =>
    route.path
  );
  throw new Refusal("invalid_value", `path must be one of ${known.join(", ")}.`, { param: "path" });
}
