import { ApiError } from "../../lib/api_error.ts";
import { describeConfig } from "../../platform/config/describe.ts";
import type { ConfigStore } from "../../platform/config/config_store.ts";
import { reloadNote, writeAudit } from "../../domain/audit/audit.ts";
import { actorOf } from "./actor.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import { readChoice } from "../read_choice.ts";
import type { RouteDeps } from "../routes/route.ts";

/** GET /admin/v1/config: the active configuration and the result of the last reload. */
export function retrieveConfig({ configStore, cluster }: RouteDeps): Endpoint {
  return function retrieveConfig() {
    const nodes = [
      { id: cluster.nodeId, version: configStore.current.version, is_this: true, is_newer: false },
      ...cluster.peers.map(({ id, configVersion, isAhead }) => ({
        id,
        version: configVersion,
        is_this: false,
        is_newer: isAhead,
      })),
    ];
    return sendJson(
      JSON.stringify({ ...state(configStore), nodes, config: describeConfig(configStore.current) }),
    );
  };
}

/** POST /admin/v1/config/reload: reloads the configuration file, or answers 400 with every error. */
export function reloadConfig({ configStore, database }: RouteDeps): Endpoint {
  return async function reloadConfig(c) {
    const isForced = readChoice(c, "force", ["true", "false"]) === "true";
    const before = configStore.current.version;
    const reload = await configStore.reload("api", { isForced });
    if (!reload.ok) {
      const errors = reload.issues.filter(({ severity }) => severity === "error").length;
      throw new ApiError(
        "invalid_value",
        `The configuration has ${errors} ${
          errors === 1 ? "error" : "errors"
        }. The previous configuration is still active.`,
        { detail: { issues: reload.issues } },
      );
    }
    await writeAudit(database.sql, actorOf(c), reloadNote(before, configStore.current.version));
    return sendJson(JSON.stringify(state(configStore)));
  };
}

function state(configStore: ConfigStore) {
  return {
    object: "config",
    version: configStore.current.version,
    last_reload: configStore.lastReload,
  };
}
