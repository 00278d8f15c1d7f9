import type { RouteEntry } from "./gateway_file.ts";
import { definitionOf, MODEL_TYPES, type ModelType } from "../../model_types/model_types.ts";

/** The endpoints of a configuration without `routes`. */
export const STANDARD_ROUTES: readonly RouteEntry[] = [
  { path: "/models", operation: "list_models" },
  { path: "/models/{model_id}", operation: "retrieve_model" },
  { path: "/pricing/models", operation: "list_prices" },
  { path: "/balance", operation: "retrieve_balance" },
  { path: "/usage", operation: "usage" },
  { path: "/quotes", operation: "quotes" },
  ...MODEL_TYPES.map(endpointOf),
  { path: "/files", operation: "files" },
  { path: "/tasks", operation: "tasks" },
  { path: "/webhook_endpoints", operation: "webhook_endpoints" },
  { path: "/webhook_deliveries", operation: "webhook_deliveries" },
];

function endpointOf(type: ModelType): RouteEntry {
  const { path, operation } = definitionOf(type).endpoint;
  if (operation !== "generation") return { path, operation };
  return { path, operation, type: type as RouteEntry["type"] };
}
