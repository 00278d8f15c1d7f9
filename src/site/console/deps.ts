import type { SiteDeps } from "../context.ts";

/** What the console is made from. */
export type ConsoleDeps = Pick<
  SiteDeps,
  | "database"
  | "cluster"
  | "configStore"
  | "upstreams"
  | "tasks"
  | "webhooks"
  | "throttle"
  | "callApi"
>;
