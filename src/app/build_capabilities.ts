import { Adapters } from "../../providers/adapters.ts";
import { BASE_URL_REQUIRED } from "../../providers/registry.ts";
import { GENERATION_SCHEMAS } from "../http/endpoints/charged_requests.ts";
import { OPERATION_HEADS } from "../http/routes/registry.ts";
import type { BuildCapabilities, OperationSpec } from "../platform/config/checker.ts";
import type { RouteEntry } from "../platform/config/gateway_file.ts";

/** What this build supports, for the check of a configuration. */
export function buildCapabilities(adapters = new Adapters()): BuildCapabilities {
  return {
    adapters: adapters.shipped,
    openAdapter: (name, source) => adapters.open(name, source),
    baseUrlRequired: BASE_URL_REQUIRED,
    operations: operations(),
    standardRoutes: standardRoutes(),
    requests: new Set(GENERATION_SCHEMAS.keys()),
    requestSchema: (name) => GENERATION_SCHEMAS.get(name),
  };
}

function operations(): Map<string, OperationSpec> {
  const byName = Map.groupBy(OPERATION_HEADS, ({ operation }) => operation);
  return new Map([...byName].map(([name, heads]) => [name, {
    parameter: /\{([^{}]+)\}/.exec(heads[0]!.path)?.[1],
    serves: heads.map(({ serves }) => serves).filter((type) => type !== undefined),
  }]));
}

function standardRoutes(): RouteEntry[] {
  return OPERATION_HEADS.map(({ operation, path, serves }) => ({
    path,
    operation,
    ...(operation === "generation" ? { type: serves as RouteEntry["type"] } : {}),
    stage: "released",
  }));
}
