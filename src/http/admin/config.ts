import { ApiError } from "../../lib/api_error.ts";
import { describeConfig } from "../../platform/config/describe.ts";
import type { ConfigStore } from "../../platform/config/config_store.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import type { AdminDeps } from "./mount.ts";

/** GET /admin/v1/config: what is in force, and how the last reload went. */
export function retrieveConfig({ configStore, cluster }: AdminDeps): Endpoint {
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
      JSON.stringify({ ...state(configStore), nodes, plan: describeConfig(configStore.current) }),
    );
  };
}

/** POST /admin/v1/config/reload: takes the declaration as it stands, or 400 with every fault. */
export function reloadConfig({ configStore }: AdminDeps): Endpoint {
  return async function reloadConfig() {
    const reload = await configStore.reload("api");
    if (!reload.ok) {
      const errors = reload.faults.filter(({ severity }) => severity === "error").length;
      throw new ApiError(
        "invalid_value",
        `The declaration has ${errors} ${
          errors === 1 ? "fault" : "faults"
        }: the one before stays in force.`,
        { detail: { faults: reload.faults } },
      );
    }
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
