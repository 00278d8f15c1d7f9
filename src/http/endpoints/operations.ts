import type { Endpoint } from "../exchange.ts";
import { listModels } from "./list_models.ts";
import { listPrices } from "./list_prices.ts";
import { retrieveModel } from "./retrieve_model.ts";

/** One address and method of an operation; `path` is what comes after the route's own. */
export interface Mount {
  method: "GET" | "POST" | "DELETE" | "PUT";
  path: string;
  endpoint: Endpoint;
}

/** What this build can do, by the name a route declares. */
export const OPERATIONS: ReadonlyMap<string, () => Mount[]> = new Map([
  ["list_models", () => [{ method: "GET", path: "", endpoint: listModels() }]],
  ["retrieve_model", () => [{ method: "GET", path: "", endpoint: retrieveModel() }]],
  ["list_prices", () => [{ method: "GET", path: "", endpoint: listPrices() }]],
] as [string, () => Mount[]][]);
