import { openAdapter } from "../../providers/own.ts";
import { ADAPTERS, ADDRESS_NEEDED } from "../../providers/registry.ts";
import type { BuildCapabilities } from "../platform/config/checker.ts";
import { OPERATIONS } from "../http/endpoints/operations.ts";

/** What this build supports; a configuration is checked against it. */
export const BUILD_CAPABILITIES: BuildCapabilities = {
  adapters: ADAPTERS,
  openAdapter,
  addressNeeded: ADDRESS_NEEDED,
  operations: new Set(OPERATIONS.keys()),
  requests: new Set([
    "images_generations",
    "videos_generations",
    "avatars_generations",
    "dramas_generations",
  ]),
};
