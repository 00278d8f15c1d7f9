import { definitionOf } from "../../model_types/model_types.ts";
import { ApiError } from "../../lib/api_error.ts";
import {
  type Config,
  isVisible,
  type Model,
  type Price,
  statusAt,
} from "../../platform/config/config.ts";
import { type PricedAccount, priceFor } from "../../domain/pricing/find_price.ts";

/** A model with the price for one account. */
export interface Offer {
  readonly model: Model;
  readonly details: CatalogueModel;
  readonly price: Price | null;
}

/** The public details of a model. */
export interface CatalogueModel {
  id: string;
  name: string;
  type: Model["type"];
  logo?: string | null;
  description?: string | null;
  advantages?: string[];
  scenarios?: string[];
  status: Model["status"];
  capabilities: string[];
  limits: Record<string, number | number[] | string[]>;
}

export function offersFor(config: Config, account: PricedAccount): Offer[] {
  const now = Date.now();
  return [...config.models.values()]
    .filter((model) => isVisible(model, account))
    .map((model) => ({
      model,
      details: {
        ...JSON.parse(model.detailJson) as CatalogueModel,
        status: statusAt(model, now),
      },
      price: priceFor(config, account, model.id, now),
    }));
}

export function offerOf(config: Config, account: PricedAccount, id: string): Offer {
  const found = offersFor(config, account).find(({ model }) => model.id === id);
  if (found === undefined) throw new ApiError("not_found", "There is no such model.");
  return found;
}

/** The API path for a type of model, as configured; null when it is not released. */
export function routeOf(config: Config, type: Model["type"]): string | null {
  const wanted = definitionOf(type).endpoint.operation;
  const route = config.routes.find(({ operation, type: of, stage }) =>
    stage !== "planned" && operation === wanted && (operation !== "generation" || of === type)
  );
  return route?.path ?? null;
}
