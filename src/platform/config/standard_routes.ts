import type { RouteEntry } from "./gateway_file.ts";
import type { ModelType } from "./model_type_specs.ts";

/** The endpoints of a configuration without `routes`. */
export const STANDARD_ROUTES: readonly Omit<RouteEntry, "stage">[] = [
  { path: "/models", operation: "list_models" },
  { path: "/models/{model_id}", operation: "retrieve_model" },
  { path: "/pricing/models", operation: "list_prices" },
  { path: "/balance", operation: "retrieve_balance" },
  { path: "/usage", operation: "usage" },
  { path: "/quotes", operation: "quotes" },
  { path: "/chat/completions", operation: "chat" },
  { path: "/files", operation: "files" },
  { path: "/images/generations", operation: "generation", type: "image" },
  { path: "/videos/generations", operation: "generation", type: "video" },
  { path: "/avatars/generations", operation: "generation", type: "avatar" },
  { path: "/dramas/generations", operation: "generation", type: "drama" },
  { path: "/audio/speech", operation: "speech" },
  { path: "/tasks", operation: "tasks" },
  { path: "/webhook_endpoints", operation: "webhook_endpoints" },
  { path: "/webhook_deliveries", operation: "webhook_deliveries" },
];

/** The default request schema of a generation endpoint. */
export function requestOf(type: ModelType): string {
  return `${type}s_generations`;
}
