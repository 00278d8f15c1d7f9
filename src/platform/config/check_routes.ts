import { blockOf, type Checker, listOf } from "./checker.ts";
import type { Declaration } from "./gateway_file.ts";
import type { Path } from "./faults.ts";
import { type ModelType, modelTypeSpec, operationOf, PATH_PARAMETERS } from "./model_type_specs.ts";
import { requestOf } from "./standard_routes.ts";

type Keys = Record<string, unknown>;

/** Routes: no two alike, handled by this build unless planned, and one for every type of model. */
export function checkRoutes(checker: Checker, declared: Partial<Declaration>): void {
  if (!Array.isArray(declared.routes) || checker.isSpoiled(["routes"])) return;
  const routes = declared.routes.map(blockOf);
  const paths = new Map<string, number>();
  const operations = new Map<string, number>();
  for (const [index, route] of routes.entries()) {
    const path: Path = ["routes", index];
    checkPath(checker, path, route, paths, index);
    checkOperation(checker, path, route, operations, index);
    if (route.sunset_at !== undefined && route.deprecated_at === undefined) {
      checker.report([...path, "sunset_at"], {
        severity: "warning",
        message: "is only sent together with deprecated_at",
      }, "key");
    }
  }
  checkReach(checker, declared, routes);
}

function checkPath(
  checker: Checker,
  path: Path,
  route: Keys,
  paths: Map<string, number>,
  index: number,
): void {
  if (typeof route.path !== "string" || checker.isSpoiled([...path, "path"])) return;
  // Two parameters with different names still match the same addresses.
  const shape = route.path.replace(/\{[^{}]*\}/g, "{}");
  const first = paths.get(shape);
  if (first === undefined) paths.set(shape, index);
  else checker.report([...path, "path"], { message: `routes[${first}] has this path already` });
}

function checkOperation(
  checker: Checker,
  path: Path,
  route: Keys,
  operations: Map<string, number>,
  index: number,
): void {
  const { operation } = route;
  if (typeof operation !== "string" || checker.isSpoiled([...path, "operation"])) return;
  const first = operations.get(operation);
  if (operation !== "generation" && first !== undefined) {
    checker.report([...path, "operation"], { message: `routes[${first}] does this already` });
  } else operations.set(operation, index);
  checkParameter(checker, path, route, operation);
  if (route.stage === "planned") return;
  if (!checker.known.operations.has(operation)) {
    checker.report([...path, route.stage === undefined ? "operation" : "stage"], {
      message: `this build cannot do "${operation}" yet`,
      suggestion: "Declare it with stage: planned.",
    });
  } else if (operation === "generation") checkRequest(checker, path, route);
}

function checkParameter(checker: Checker, path: Path, route: Keys, operation: string): void {
  if (typeof route.path !== "string") return;
  const parameter = Object.hasOwn(PATH_PARAMETERS, operation)
    ? PATH_PARAMETERS[operation]
    : undefined;
  const written: string[] = route.path.match(/\{[^{}]*\}/g) ?? [];
  if (parameter !== undefined && !written.includes(`{${parameter}}`)) {
    checker.report([...path, "path"], { message: `needs {${parameter}} for "${operation}"` });
  } else if (parameter === undefined && written.length > 0) {
    checker.report([...path, "path"], { message: `"${operation}" takes no parameter in its path` });
  }
}

function checkRequest(checker: Checker, path: Path, route: Keys): void {
  if (typeof route.request === "string") {
    checker.reference(
      [...path, "request"],
      route.request,
      "request schema",
      checker.known.requests,
    );
  } else if (
    modelTypeSpec(route.type) !== null &&
    !checker.known.requests.has(requestOf(route.type as ModelType))
  ) {
    checker.report([...path, "type"], {
      message: `there is no request schema "${requestOf(route.type as ModelType)}"`,
      suggestion: "Name another with request, or declare the route with stage: planned.",
    });
  }
}

/** A model that no endpoint runs is a model that nobody can use. */
function checkReach(
  checker: Checker,
  declared: Partial<Declaration>,
  routes: readonly Keys[],
): void {
  const reached = new Set<unknown>();
  for (const [index, { operation, type }] of routes.entries()) {
    const [what, at] = operation === "generation" ? [type, "type"] : [operation, "operation"];
    // A route that cannot be read may be the one that is missed below.
    if (typeof what !== "string" || checker.isSpoiled(["routes", index, at!])) return;
    reached.add(what);
  }
  for (const [index, model] of listOf(declared.models).map(blockOf).entries()) {
    if (modelTypeSpec(model.type) === null || reached.has(model.type)) continue;
    const operation = operationOf(model.type as ModelType);
    checker.report(["models", index, "type"], {
      message: `no route runs ${model.type} models`,
      suggestion: operation === "generation"
        ? `Add a route with operation: generation and type: ${model.type}.`
        : `Add a route with operation: ${operation}.`,
    });
  }
}
