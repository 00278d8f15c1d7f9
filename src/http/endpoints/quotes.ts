import { formatDecimal, roundUp } from "../../base/money.ts";
import { Refusal } from "../../base/refusal.ts";
import type { Plan, Route } from "../../config/plan.ts";
import { covers } from "../../ledger/balance.ts";
import { priceFor } from "../../pricing/books.ts";
import { quote } from "../../pricing/quote.ts";
import { snapshotOf } from "../../pricing/snapshot.ts";
import { worstCase } from "../../pricing/worst_case.ts";
import type { Database } from "../../store/database.ts";
import { bodySchema } from "../body_schema.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import { usableModel } from "./retrieve_model.ts";
import schema from "../../../schemas/requests/quotes.schema.json" with { type: "json" };

const quoteRequest = bodySchema<{ path: string; body: Record<string, unknown> }>(schema);

/** POST /v1/quotes: what a request would cost at the most, and whether the balance covers it. */
export function createQuote({ database }: { database: Database }): Endpoint {
  return async function createQuote(c) {
    const { path, body } = quoteRequest(await readJson(c));
    const { plan } = c.env;
    const route = pricedRoute(plan, path);
    if (typeof body.model !== "string") {
      throw new Refusal("missing_field", "The field body.model is missing.", {
        param: "body.model",
      });
    }
    const model = usableModel(c, body.model);
    const type = route.operation === "generation" ? route.type : route.operation;
    if (model.type !== type) {
      throw new Refusal(
        "capability_not_supported",
        `${model.id} is a ${model.type} model: ${path} takes ${type} models.`,
        {
          param: "model",
        },
      );
    }
    const account = accountOf(c);
    const price = priceFor(plan, account, model.id, Date.now());
    if (price === null) {
      throw new Refusal("model_unavailable", `${model.id} has no price.`, { param: "model" });
    }
    const most = worstCase(model, body);
    const quoted = quote(model, price, most);
    const scale = plan.service.currencyScale;
    return sendJson(JSON.stringify({
      object: "quote",
      path: route.path,
      model: model.id,
      currency: plan.service.currency,
      amount: formatDecimal(roundUp(quoted.amount, scale)),
      usage: most,
      price: snapshotOf(price),
      covered: await covers(database.sql, account.id, quoted, scale),
    }));
  };
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
