import { blockOf, type Checker, listOf } from "./checker.ts";
import type { GatewayFile } from "./gateway_file.ts";
import type { Path } from "./issues.ts";
import { isFileName } from "./own_files.ts";
import { findDefinition } from "../../model_types/model_types.ts";

type Keys = Record<string, unknown>;

/** Routes: paths and operations are unique, this build has the operation, and every model type has a route. */
export function checkRoutes(checker: Checker, file: Partial<GatewayFile>): void {
  if (!Array.isArray(file.routes) || checker.isInvalid(["routes"])) return;
  const routes = file.routes.map(blockOf);
  const paths = new Map<string, number>();
  const operations = new Map<string, number>();
  for (const [index, route] of routes.entries()) {
    checkPath(checker, index, route, paths);
    checkOperation(checker, index, route, operations);
    if (route.sunset_at !== undefined && route.deprecated_at === undefined) {
      checker.report(["routes", index, "sunset_at"], {
        severity: "warning",
        message: "has no effect without deprecated_at",
      }, "key");
    }
  }
  checkReachable(checker, file, routes);
}

function checkPath(
  checker: Checker,
  index: number,
  route: Keys,
  paths: Map<string, number>,
): void {
  const path: Path = ["routes", index];
  if (typeof route.path !== "string" || checker.isInvalid([...path, "path"])) return;
  // Two parameters with different names match the same URLs.
  const shape = route.path.replace(/\{[^{}]*\}/g, "{}");
  const first = paths.get(shape);
  if (first === undefined) paths.set(shape, index);
  else checker.report([...path, "path"], { message: `routes[${first}] already has this path` });
}

function checkOperation(
  checker: Checker,
  index: number,
  route: Keys,
  operations: Map<string, number>,
): void {
  const path: Path = ["routes", index];
  const { operation } = route;
  if (typeof operation !== "string" || checker.isInvalid([...path, "operation"])) return;
  const known = checker.capabilities.operations;
  const spec = known.get(operation);
  if (spec === undefined) return reportUnknown(checker, [...path, "operation"], operation);
  const first = operations.get(operation);
  if (operation !== "generation" && first !== undefined) {
    checker.report([...path, "operation"], {
      message: `routes[${first}] already has this operation`,
    });
  } else operations.set(operation, index);
  checkParameter(checker, path, route, spec.parameter);
  if (operation !== "generation") checkKeys(checker, path, route);
  else if (route.stage !== "planned") checkRequest(checker, path, route);
}

function reportUnknown(checker: Checker, path: Path, operation: string): void {
  const known = checker.capabilities.operations;
  const suggested = checker.suggest(operation, known);
  checker.report(path, {
    message: `must be one of ${[...known.keys()].join(", ")}; got ${checker.sourceText(path)}`,
    suggestion: suggested === undefined ? undefined : `Did you mean "${suggested}"?`,
  });
}

/** Keys that only a generation route has. */
function checkKeys(checker: Checker, path: Path, route: Keys): void {
  for (const key of ["type", "request"]) {
    if (route[key] === undefined) continue;
    const message = `is not allowed with operation "${route.operation}"`;
    checker.report([...path, key], { message }, "key");
  }
}

function checkParameter(
  checker: Checker,
  path: Path,
  route: Keys,
  parameter: string | undefined,
): void {
  if (typeof route.path !== "string") return;
  const { operation } = route;
  const written: string[] = route.path.match(/\{[^{}]*\}/g) ?? [];
  if (parameter !== undefined && !written.includes(`{${parameter}}`)) {
    checker.report([...path, "path"], { message: `needs {${parameter}} for "${operation}"` });
  } else if (parameter === undefined && written.length > 0) {
    checker.report([...path, "path"], { message: `"${operation}" takes no parameter in its path` });
  }
}

function checkRequest(checker: Checker, path: Path, route: Keys): void {
  // An operator's own file has been read and checked before.
  if (isFileName(route.request)) return;
  const request = findDefinition(route.type)?.request;
  if (typeof route.request === "string") {
    checker.reference(
      [...path, "request"],
      route.request,
      "request schema",
      checker.capabilities.requests,
    );
  } else if (request !== undefined && !checker.capabilities.requests.has(request.name)) {
    checker.report([...path, "type"], {
      message: `there is no request schema "${request.name}"`,
      suggestion: "Set request to another schema, or set stage: planned.",
    });
  }
}

/** A model without an endpoint cannot be used. */
function checkReachable(
  checker: Checker,
  file: Partial<GatewayFile>,
  routes: readonly Keys[],
): void {
  const { operations } = checker.capabilities;
  const reached = new Set<unknown>();
  for (const [index, { operation, type }] of routes.entries()) {
    const [served, key] = operation === "generation" ? [type, "type"] : [operation, "operation"];
    // An invalid route may be the one that would be reported as missing below.
    if (typeof served !== "string" || checker.isInvalid(["routes", index, key!])) return;
    const spec = operations.get(String(operation));
    if (spec === undefined) return;
    for (const each of operation === "generation" ? [served] : spec.serves) reached.add(each);
  }
  for (const [index, model] of listOf(file.models).map(blockOf).entries()) {
    const definition = findDefinition(model.type);
    if (definition === null || reached.has(model.type)) continue;
    const { operation } = definition.endpoint;
    if (!operations.has(operation)) continue;
    checker.report(["models", index, "type"], {
      message: `no route serves ${model.type} models`,
      suggestion: operation === "generation"
        ? `Add a route with operation: generation and type: ${model.type}.`
        : `Add a route with operation: ${operation}.`,
    });
  }
}
