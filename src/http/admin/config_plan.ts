import type { ConfigPlanRequest } from "../../../schemas/requests.ts";
import { findRemovedInUse } from "../../domain/accounts/removed_in_use.ts";
import { ApiError } from "../../lib/api_error.ts";
import { findPreviousConfig, type PreviousConfig } from "../../platform/cluster/config_history.ts";
import type { ConfigText } from "../../platform/config/config_store.ts";
import { describeConfig, type Description } from "../../platform/config/describe.ts";
import { diffConfigs } from "../../platform/config/diff.ts";
import { sortIssues } from "../../platform/config/issues.ts";
import { Redactor } from "../../platform/telemetry/scrub.ts";
import { type BodyEndpoint, type Endpoint, sendJson } from "../exchange.ts";
import type { RouteDeps } from "../routes/route.ts";

/**
 * POST /admin/v1/config/plan: compiles a configuration with the environment of this gateway and compares it. Nothing
 * changes. Values of variables are left out as they are in the log: a file may put them where they would be shown.
 */
export function planConfig(deps: RouteDeps): BodyEndpoint<ConfigPlanRequest> {
  return async function planConfig(_c, { source, files = {}, against }) {
    const { configStore } = deps;
    const redactor = new Redactor();
    const compile = (text: ConfigText) =>
      configStore.compileText(text, (value) => redactor.add([value]));
    const wanted = source === undefined
      ? configStore.text
      : { source, files: new Map(Object.entries(files)) };
    const { config, issues } = compile(wanted);
    const inUse = config === null
      ? []
      : await findRemovedInUse(deps.database.sql, config, configStore.current);
    const before = await describeBase(deps, against, compile);
    const changes = config === null ? [] : diffConfigs(before, describeConfig(config));
    const plan = {
      object: "config_plan",
      ok: config !== null,
      from: before.version,
      to: config?.version ?? null,
      changes,
      issues: sortIssues([...issues, ...configStore.issuesFor(wanted.source, inUse, "warning")]),
    };
    const hide = (_key: string, value: unknown) =>
      typeof value === "string" ? redactor.redact(value) : value;
    return sendJson(JSON.stringify(plan, hide));
  };
}

async function describeBase(
  deps: RouteDeps,
  against: ConfigPlanRequest["against"],
  compile: (text: ConfigText) => ReturnType<RouteDeps["configStore"]["compileText"]>,
): Promise<Description> {
  if (against !== "previous") return describeConfig(deps.configStore.current);
  const previous = await requirePrevious(deps);
  const { config } = compile(previous);
  if (config !== null) return describeConfig(config);
  throw new ApiError(
    "invalid_value",
    `The previous configuration (${previous.version}) can no longer be compiled here.`,
    { param: "against" },
  );
}

/** GET /admin/v1/config/previous: the text of the configuration that was in force before. */
export function retrievePreviousConfig(deps: RouteDeps): Endpoint {
  return async function retrievePreviousConfig() {
    const { version, source, files, activatedAt } = await requirePrevious(deps);
    return sendJson(JSON.stringify({
      object: "config_text",
      version,
      activated_at: activatedAt.toISOString(),
      source,
      files: Object.fromEntries(files),
    }));
  };
}

async function requirePrevious({ database, configStore }: RouteDeps): Promise<PreviousConfig> {
  const previous = await findPreviousConfig(database.sql, configStore.current.version);
  if (previous !== null) return previous;
  throw new ApiError("not_found", "There is no previous configuration in the database.");
}
