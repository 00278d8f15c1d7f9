import type { SiteDeps } from "../context.ts";

/** Dependencies of the console. */
export type ConsoleDeps = Pick<
  SiteDeps,
  | "database"
  | "cluster"
  | "configStore"
  | "upstreams"
  | "tasks"
  | "webhooks"
  | "requestLog"
  | "bodyLog"
  | "throttle"
  | "callApi"
>;
