import { ApiError } from "../../lib/api_error.ts";
import { describeConfig } from "../../platform/config/describe.ts";
import type { ConfigStore } from "../../platform/config/config_store.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import type { AdminDeps } from "./mount.ts";

/** GET /admin/v1/config: what is in force, and how the last reload went. */
export function retrieveConfig({ keeper, changes }: AdminDeps): Endpoint {
  return function retrieveConfig() {
    const nodes = [
      { id: changes.nodeId, version: keeper.current.version, is_this: true, is_newer: false },
      ...changes.peers.map(({ id, declaration, isAhead }) => ({
        id,
        version: declaration,
        is_this: false,
        is_newer: isAhead,
      })),
    ];
    return sendJson(
      JSON.stringify({ ...state(keeper), nodes, plan: describeConfig(keeper.current) }),
    );
  };
}

/** POST /admin/v1/config/reload: takes the declaration as it stands, or 400 with every fault. */
export function reloadConfig({ keeper }: AdminDeps): Endpoint {
  return async function reloadConfig() {
    const reload = await keeper.reload("api");
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
    return sendJson(JSON.stringify(state(keeper)));
  };
}

function state(keeper: ConfigStore) {
  return { object: "config", version: keeper.current.version, last_reload: keeper.lastReload };
}
