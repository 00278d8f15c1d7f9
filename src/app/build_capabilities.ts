import { Adapters } from "../../providers/adapters.ts";
import { BASE_URL_REQUIRED } from "../../providers/registry.ts";
import type { BuildCapabilities } from "../platform/config/checker.ts";
import { GENERATION_REQUESTS } from "../http/endpoints/generation_requests.ts";
import { OPERATIONS } from "../http/endpoints/operations.ts";

/** What this build supports, for the check of a configuration. */
export function buildCapabilities(adapters = new Adapters()): BuildCapabilities {
  return {
    adapters: adapters.shipped,
    openAdapter: (name, source) => adapters.open(name, source),
    baseUrlRequired: BASE_URL_REQUIRED,
    operations: new Set(OPERATIONS.keys()),
    requests: new Set(GENERATION_REQUESTS.keys()),
  };
}
